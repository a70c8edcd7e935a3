// Fields between braces, formatted as Python's str.format formats numbers.
#include "model/path_template.h"

#include "base/cut_text.h"
#include "base/near_names.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {

PathTemplate::PathTemplate(std::string callback, const std::string& text) : callback_(std::move(callback)), given_(text) {
  const auto refuse = [&](std::string_view what) {
    throw ArgumentError(fmt::format("{}: the path \"{}\" {}; expected fields like {{epoch}} or {{loss:.2f}}, and {{{{ or }}}} for a brace.",
                                    callback_, given_, what));
  };
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_brace = text[at] == '{' || text[at] == '}';
    if (!is_brace || (at + 1 < text.size() && text[at + 1] == text[at])) {
      plain += text[at];
      at += is_brace ? 1 : 0;
      continue;
    }
    const size_t end = text.find_first_of("{}", at + 1);
    if (text[at] == '}' || end == std::string::npos || text[end] == '{') refuse(fmt::format("has a '{}' of its own", text[at]));
    if (!plain.empty()) parts_.push_back({.text = std::exchange(plain, {}), .field = {}, .format = {}});
    const std::string inside = text.substr(at + 1, end - at - 1);
    const size_t colon = inside.find(':');
    parts_.push_back({.text = {}, .field = inside.substr(0, colon), .format = colon == std::string::npos ? "" : inside.substr(colon + 1)});
    if (parts_.back().field.empty()) refuse("has a field without a name");
    if (parts_.back().format.size() > 6) refuse("has a format that is too long");  // a width of millions is no name of a file
    formatted(parts_.back(), 1);
    at = end;
  }
  if (!plain.empty()) parts_.push_back({.text = std::move(plain), .field = {}, .format = {}});
}

std::string PathTemplate::formatted(const Part& part, double value) const {
  const bool is_epoch = part.field == "epoch";
  const std::string format = fmt::format("{{:{}}}", part.format.empty() && !is_epoch ? ".4f" : part.format);
  const bool is_floating = !part.format.empty() && std::string_view("eEfFgG").find(part.format.back()) != std::string_view::npos;
  try {
    return is_epoch && !is_floating ? fmt::format(fmt::runtime(format), static_cast<int64_t>(value))
                                    : fmt::format(fmt::runtime(format), value);
  } catch (const fmt::format_error&) {
    throw ArgumentError(fmt::format("{}: the path \"{}\" formats \"{}\" by \"{}\"; expected a format of a number, like {}.", callback_,
                                    given_, part.field, part.format, is_epoch ? "02d" : ".2f"));
  }
}

void PathTemplate::require_known(const std::vector<std::string>& recorded) const {
  for (const Part& part : parts_) {
    if (part.field.empty() || part.field == "epoch" || std::ranges::find(recorded, part.field) != recorded.end()) continue;
    std::vector<std::string> known = {"epoch"};
    known.insert(known.end(), recorded.begin(), recorded.end());
    throw ArgumentError(fmt::format("{}: the path {}: {} Give fit validation data for val_ values.", callback_, in_quotes(given_),
                                    unknown_name("recorded value", part.field, known)));
  }
}

std::string PathTemplate::filled_in(int64_t epoch, const Scores& scores) const {
  std::string path;
  for (const Part& part : parts_) {
    path += part.field.empty() ? part.text : formatted(part, part.field == "epoch" ? static_cast<double>(epoch) : scores[part.field]);
  }
  return path;
}

std::filesystem::path PathTemplate::up_to_first_field() const { return parts_.empty() ? std::string() : parts_.front().text; }

}  // namespace anyshape::model
