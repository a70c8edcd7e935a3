// How many kernels something takes that were not there before: compiled, or found on disk.
#pragma once
#include "support/temporary_folder.h"

#include <anyshape/kernel_cache.h>

#include <cstdint>

namespace anyshape::test {

class KernelCount {
 public:
  KernelCount() {
    set_kernel_cache({.folder = folder_.path()});
    before_ = number();
  }
  ~KernelCount() { set_kernel_cache({.enabled = false}); }
  KernelCount(const KernelCount&) = delete;
  KernelCount& operator=(const KernelCount&) = delete;
  int64_t made() const { return number() - before_; }

 private:
  static int64_t number() { return kernel_cache_stats().found + kernel_cache_stats().written; }
  TemporaryFolder folder_;
  int64_t before_ = 0;
};

}  // namespace anyshape::test
