// Values of options: enums, shapes, and what is said where a config has something else.
#include "base/class_name.h"
#include "base/cut_text.h"
#include "base/near_names.h"

#include <anyshape/option_fields.h>
#include <anyshape/shape.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::detail {

Config shape_config(const Shape& shape) {
  std::vector<Config> sizes;
  for (const Dim& size : shape) sizes.push_back(size.same_as(dynamic) ? Config() : Config(size.value()));
  return sizes;
}

Shape shape_from(const Config& config, const std::string& place) {
  if (config.kind() != Config::Kind::List) refuse_value(place, config, "a list of sizes");
  Shape shape;
  for (const Config& size : config.items()) shape.push_back(size.is_null() ? dynamic : Dim(integer_from(size, place, 0, INT64_MAX)));
  return shape;
}

Config enum_config(int64_t value, const std::string_view* names, size_t count) {
  if (value < 0 || static_cast<size_t>(value) >= count) return value;
  return snake_case(names[value]);
}

int64_t enum_from(const Config& config, const std::string_view* names, size_t count, const std::string& place) {
  if (count == 0) return integer_from(config, place, INT64_MIN, INT64_MAX);  // values without names
  std::vector<std::string> known;
  for (size_t i = 0; i < count; ++i) known.push_back(snake_case(names[i]));
  if (config.kind() != Config::Kind::Text) refuse_value(place, config, fmt::format("one of \"{}\"", fmt::join(known, "\", \"")));
  const auto found = std::ranges::find(known, config.as_text());
  if (found == known.end()) throw ArgumentError(fmt::format("{}: {}", place, unknown_name("choice", config.as_text(), known)));
  return found - known.begin();
}

void refuse_value(const std::string& place, const Config& value, std::string_view expected) {
  throw ArgumentError(fmt::format("{} is {}; expected {}.", place, shortened(to_string(value)), expected));
}

void refuse_callable(const std::string& place, const Config& value) {
  if (!value.is_callable()) refuse_value(place, value, "none, or a callable, which no config can make");
  throw ArgumentError(
      fmt::format("{} is a callable, which no config can make; expected none. Make the object in the program, with its callable.", place));
}

void refuse_missing(const std::string& owner, std::string_view field, std::string_view expected) {
  throw ArgumentError(fmt::format("{}: {} is missing; expected {}.", owner, field, expected));
}

void refuse_inside(const std::string& place, const ArgumentError& error) {
  throw ArgumentError(fmt::format("{}: {}", place, error.what()));
}

void require_known(const Config& config, const std::string& owner, const std::vector<std::string_view>& names) {
  if (config.kind() == Config::Kind::Text) return;
  for (const Config::Field& field : config.fields()) {
    if (std::ranges::find(names, field.name) != names.end()) continue;
    if (names.empty()) throw ArgumentError(fmt::format("{}: {} is given; expected no fields.", owner, in_quotes(field.name)));
    const std::vector<std::string> known(names.begin(), names.end());
    throw ArgumentError(fmt::format("{}: {}", owner, unknown_name("field", field.name, known)));
  }
}

int64_t integer_from(const Config& config, const std::string& place, int64_t least, int64_t most) {
  if (config.kind() != Config::Kind::Integer) refuse_value(place, config, expected_words<int64_t>());
  const int64_t value = config.as_integer();
  if (value < least || value > most) refuse_value(place, config, fmt::format("a whole number from {} to {}", least, most));
  return value;
}

}  // namespace anyshape::detail
