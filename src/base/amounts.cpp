// Bytes by powers of 1024, arithmetic by powers of 1000: as people say them.
#include "base/amounts.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace anyshape {
namespace {

// Up to 9999 as it is; then one digit behind the point, with the first unit that leaves less than 1000.
std::string scaled(int64_t amount, double factor, std::string_view plain, const std::array<std::string_view, 4>& units) {
  if (amount < 10'000) return fmt::format("{} {}", amount, plain);
  double rest = static_cast<double>(amount) / factor;
  size_t unit = 0;
  for (; rest >= 1000 && unit + 1 < units.size(); ++unit) rest /= factor;
  return fmt::format("{:.1f} {}", rest, units[unit]);
}

}  // namespace

std::string bytes_text(int64_t bytes) { return scaled(bytes, 1024, "B", {"KiB", "MiB", "GiB", "TiB"}); }
std::string flops_text(int64_t flops) { return scaled(flops, 1000, "FLOP", {"kFLOP", "MFLOP", "GFLOP", "TFLOP"}); }

}  // namespace anyshape
