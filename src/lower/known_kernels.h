// The kernels of a program, equal ones as one: the layers of a deep network have few that differ, and a kernel takes more memory than all else that
// is known of a launch.
#pragma once
#include "loop/ir.h"

#include <memory>
#include <unordered_map>

namespace anyshape::lower {

class KnownKernels {
 public:
  // The kernel, or an earlier one that is equal.
  std::shared_ptr<const loop::Kernel> known(std::shared_ptr<const loop::Kernel> kernel);

 private:
  std::unordered_multimap<size_t, std::shared_ptr<const loop::Kernel>> kernels_;  // by hash
};

}  // namespace anyshape::lower
