// Adding up sizes.
#include "ops/total.h"

namespace anyshape {

Dim total_of(std::span<const Dim> sizes) {
  if (sizes.empty()) return 0;
  if (sizes.size() == 1) return sizes[0];
  const size_t half = sizes.size() / 2;
  return total_of(sizes.first(half)) + total_of(sizes.subspan(half));
}

}  // namespace anyshape
