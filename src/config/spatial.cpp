// Numbers along spatial axes: as they are given, for the axes that there are, and as configs.
#include "base/near_names.h"

#include <anyshape/error.h>
#include <anyshape/option_fields.h>
#include <anyshape/spatial.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace anyshape {
namespace {

// By their kind.
const std::array<std::string, 3> names = {"valid", "same", "causal"};

Config list_of(const std::vector<int64_t>& numbers) {
  std::vector<Config> items(numbers.begin(), numbers.end());
  return items.size() == 1 ? items[0] : Config(std::move(items));
}

std::vector<int64_t> numbers_of(const Config& config, const char* owner) {
  if (config.kind() == Config::Kind::Integer) return {config.as_integer()};
  return detail::from_config<std::vector<int64_t>>(config, owner);
}

}  // namespace

std::vector<int64_t> PerAxis::along(int axes, const std::string& owner, const std::string& what, int64_t least) const {
  const auto count = static_cast<size_t>(axes);
  if (numbers_.size() != 1 && numbers_.size() != count) {
    throw ArgumentError(
        fmt::format("{}: {} is [{}]; expected one number, or one for each of {} axes.", owner, what, fmt::join(numbers_, ", "), axes));
  }
  for (const int64_t number : numbers_) {
    if (number < least) throw ArgumentError(fmt::format("{}: {} is {}; expected at least {}.", owner, what, number, least));
  }
  return numbers_.size() == count ? numbers_ : std::vector<int64_t>(count, numbers_[0]);
}

Config PerAxis::config() const { return list_of(numbers_); }

template <>
PerAxis make<PerAxis>(const Config& config) {
  return PerAxis(numbers_of(config, "PerAxis"));
}

Padding::Padding(const char* name) : Padding(std::string(name)) {}

Padding::Padding(const std::string& name) {
  for (size_t kind = 0; kind < names.size(); ++kind) {
    if (names[kind] != name) continue;
    kind_ = static_cast<Kind>(kind);
    return;
  }
  throw ArgumentError(unknown_name("padding", name, names));
}

Padding::Padding(std::initializer_list<int64_t> each) {
  for (const int64_t number : each) ends_.emplace_back(number, number);
}

Padding::Padding(std::vector<Ends> each) : ends_(std::move(each)) {}

std::vector<Padding::Ends> Padding::along(int axes, const std::string& owner) const {
  const auto count = static_cast<size_t>(axes);
  const auto text = [&] { return to_string(config()); };
  if (ends_.size() != 1 && ends_.size() != count)
    throw ArgumentError(fmt::format("{}: padding is {}; expected one number, or one or two for each of {} axes.", owner, text(), axes));
  for (const Ends& ends : ends_) {
    if (ends.first < 0 || ends.second < 0) throw ArgumentError(fmt::format("{}: padding is {}; expected at least 0.", owner, text()));
  }
  return ends_.size() == count ? ends_ : std::vector<Ends>(count, ends_[0]);
}

Config Padding::config() const {
  if (kind_ != Kind::Explicit) return names[static_cast<size_t>(kind_)];
  std::vector<Config> items;
  for (const Ends& ends : ends_) {
    if (ends.first == ends.second)
      items.emplace_back(ends.first);
    else
      items.emplace_back(std::vector<Config>{ends.first, ends.second});
  }
  // One number alone is said without a list; one pair alone stays a list of one.
  return items.size() == 1 && ends_[0].first == ends_[0].second ? items[0] : Config(std::move(items));
}

template <>
Padding make<Padding>(const Config& config) {
  if (config.kind() == Config::Kind::Text) return config.as_text();
  if (config.kind() == Config::Kind::Integer) return config.as_integer();
  if (config.kind() != Config::Kind::List) detail::refuse_value("Padding", config, "a text, a whole number or a list");
  std::vector<Padding::Ends> ends;
  for (const Config& item : config.items()) {
    const std::vector<int64_t> numbers = numbers_of(item, "Padding");
    if (numbers.empty() || numbers.size() > 2) detail::refuse_value("Padding", item, "one number or two");
    ends.emplace_back(numbers.front(), numbers.back());
  }
  return Padding(std::move(ends));
}

}  // namespace anyshape
