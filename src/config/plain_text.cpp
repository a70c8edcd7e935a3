// Plain values as text.
#include "config/plain_text.h"

#include "base/json_text.h"

#include <fmt/format.h>

#include <cmath>

namespace anyshape {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void append_plain(std::string& text, const Config& config, std::string_view nothing, void (*append)(std::string&, const Config&)) {
  switch (config.kind()) {
    case Config::Kind::Null: text += nothing; break;
    case Config::Kind::Bool: text += config.as_bool() ? "true" : "false"; break;
    case Config::Kind::Integer: text += std::to_string(config.as_integer()); break;
    case Config::Kind::Number: text += number_text(config.as_number()); break;
    case Config::Kind::Text: text += json_text(config.as_text()); break;
    case Config::Kind::List: append_joined(text, '[', config.items(), ']', [&](const Config& item) { append(text, item); }); break;
    case Config::Kind::Map:
    case Config::Kind::Object: break;
  }
}

}  // namespace anyshape
