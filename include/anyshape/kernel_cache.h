// Machine code kept on disk, so that the next run of a program starts without compiling. On unless ANYSHAPE_KERNEL_CACHE says off
// (or 0, no, false, in any case); any other text but on, 1, yes and true is a folder.
#pragma once
#include <cstdint>
#include <filesystem>

#pragma GCC visibility push(default)
namespace anyshape {

/// Whether machine code is kept on disk, where, and how much of it.
struct KernelCacheOptions {
  bool enabled = true;
  std::filesystem::path folder = {};       ///< none: ANYSHAPE_KERNEL_CACHE, else the user's cache folder (XDG_CACHE_HOME or ~/.cache)
  int64_t max_bytes = int64_t{256} << 20;  ///< the files used longest ago go first
};
/// The folder holds code that this process will run: one that others may write to, or that is a link, is an ArgumentError.
void set_kernel_cache(KernelCacheOptions options);

/// How often the cache had a kernel, and how often it got one.
struct KernelCacheStats {
  int64_t found = 0;    ///< kernels that were on disk
  int64_t written = 0;  ///< kernels that were compiled and put there
};
KernelCacheStats kernel_cache_stats();  ///< of this process

}  // namespace anyshape
#pragma GCC visibility pop
