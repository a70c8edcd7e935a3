// One text for all of them.
#include "base/option_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace anyshape::require {
namespace {

template <class Number>
Number held_to(bool holds, std::string_view owner, std::string_view name, Number value, std::string_view rule) {
  if (!holds) throw ArgumentError(fmt::format("{}: {} is {}; expected {}.", owner, name, value, rule));
  return value;
}

}  // namespace

double finite(std::string_view owner, std::string_view name, double value) {
  return held_to(std::isfinite(value), owner, name, value, "a finite number");
}
double positive(std::string_view owner, std::string_view name, double value) {
  return held_to(std::isfinite(value) && value > 0, owner, name, value, "a positive number");
}
double not_negative(std::string_view owner, std::string_view name, double value) {
  return held_to(std::isfinite(value) && value >= 0, owner, name, value, "0 or more");
}
double share(std::string_view owner, std::string_view name, double value) {
  return held_to(value >= 0 && value <= 1, owner, name, value, fmt::format("0 <= {} <= 1", name));
}
double share_below_one(std::string_view owner, std::string_view name, double value) {
  return held_to(value >= 0 && value < 1, owner, name, value, fmt::format("0 <= {} < 1", name));
}
int64_t at_least(std::string_view owner, std::string_view name, int64_t value, int64_t least) {
  return held_to(value >= least, owner, name, value, fmt::format("at least {}", least));
}

}  // namespace anyshape::require
