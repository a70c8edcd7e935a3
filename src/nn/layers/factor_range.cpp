// How far a random change goes, as a value and as a config.
#include <anyshape/error.h>
#include <anyshape/layers/augmentation.h>
#include <anyshape/option_fields.h>

#include <fmt/format.h>

#include <cmath>

namespace anyshape {

FactorRange::FactorRange(double most) : FactorRange(-std::abs(most), std::abs(most)) {}
FactorRange::FactorRange(double lower, double upper) : lower_(lower), upper_(upper) {
  if (std::isfinite(lower) && std::isfinite(upper) && lower <= upper) return;
  throw ArgumentError(
      fmt::format("FactorRange: it goes from {} to {}; expected a number, or the lesser one and the greater one.", lower, upper));
}

Config FactorRange::config() const {
  if (lower_ == -upper_) return upper_;
  return std::vector<Config>{lower_, upper_};
}

template <>
FactorRange make<FactorRange>(const Config& config) {
  if (config.kind() != Config::Kind::List) return detail::from_config<double>(config, "FactorRange");
  const auto ends = detail::from_config<std::vector<double>>(config, "FactorRange");
  if (ends.size() != 2) detail::refuse_value("FactorRange", config, "a number, or a list of two");
  return {ends[0], ends[1]};
}

}  // namespace anyshape
