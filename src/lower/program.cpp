// What is asked of a launch by who plans its memory.
#include "lower/program.h"

#include <algorithm>

namespace anyshape::lower {

std::optional<loop::Access> Launch::access_of(int buffer) const {
  const auto found = std::ranges::find(buffers, buffer);
  if (found == buffers.end()) return std::nullopt;
  return kernel->buffers[static_cast<size_t>(found - buffers.begin())].access;
}

}  // namespace anyshape::lower
