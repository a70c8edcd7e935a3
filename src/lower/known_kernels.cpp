// Kernels by a hash of all that they say.
#include "lower/known_kernels.h"

#include "loop/same.h"

namespace anyshape::lower {

std::shared_ptr<const loop::Kernel> KnownKernels::known(std::shared_ptr<const loop::Kernel> kernel) {
  const size_t hash = loop::hash_of(*kernel);
  const auto [begin, end] = kernels_.equal_range(hash);
  for (auto each = begin; each != end; ++each) {
    if (loop::is_same(*each->second, *kernel)) return each->second;
  }
  return kernels_.emplace(hash, std::move(kernel))->second;
}

}  // namespace anyshape::lower
