// The choice of a cache on disk: the program's, else the environment's, else the user's cache folder.
#include "codegen/kernel_cache.h"

#include "base/environment.h"
#include "base/fork_mutex.h"
#include "codegen/build_id.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <cstdlib>

namespace anyshape {
namespace codegen {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

// Empty where the environment names no place.
fs::path users_folder() {
  const std::string chosen = environment("ANYSHAPE_KERNEL_CACHE");
  if (!chosen.empty() && !means_off(chosen) && !means_on(chosen)) return chosen;
  const fs::path caches = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (caches.is_absolute()) return caches / "anyshape";
  return home.is_absolute() ? home / ".cache" / "anyshape" : fs::path();
}

struct Choice {
  ForkMutex mutex;
  std::shared_ptr<DiskCache> cache;
};

// Without a word where the default cannot be used: the program runs as well, only later.
std::shared_ptr<DiskCache> by_default() {
  if (build_id().empty() || means_off(environment("ANYSHAPE_KERNEL_CACHE"))) return nullptr;
  const fs::path folder = users_folder();
  if (folder.empty()) return nullptr;
  const PrivateFolder own = private_folder(folder);
  return own.fault.empty() ? std::make_shared<DiskCache>(KernelCacheOptions{.folder = own.path}) : nullptr;
}

Choice& choice() {
  const NoFork whole;                                                       // so that no child waits for another thread to make it
  static Choice& chosen = *new Choice{.mutex = {}, .cache = by_default()};  // never destroyed: ops may run in destructors of statics
  return chosen;
}

}  // namespace

std::shared_ptr<DiskCache> disk_cache() {
  const std::lock_guard lock(choice().mutex);
  return choice().cache;
}

}  // namespace codegen

void set_kernel_cache(KernelCacheOptions options) {
  std::shared_ptr<codegen::DiskCache> cache;
  if (options.enabled) {
    if (options.folder.empty()) options.folder = codegen::users_folder();
    if (options.folder.empty()) throw ArgumentError("set_kernel_cache: no folder is given, and neither XDG_CACHE_HOME nor HOME names one.");
    if (options.max_bytes < 0) {
      throw ArgumentError(fmt::format("set_kernel_cache: max_bytes is {}; expected 0 or more.", options.max_bytes));
    }
    if (codegen::build_id().empty()) {
      throw ArgumentError("set_kernel_cache: this build of the library has no build id to know its code by; link it with --build-id.");
    }
    const codegen::PrivateFolder folder = codegen::private_folder(options.folder);
    if (!folder.fault.empty()) {
      throw ArgumentError(
          fmt::format("set_kernel_cache: the folder \"{}\" {}; expected one that only you can open: it holds code that is run.",
                      folder.path.string(), folder.fault));
    }
    options.folder = folder.path;
    cache = std::make_shared<codegen::DiskCache>(std::move(options));
  }
  const std::lock_guard lock(codegen::choice().mutex);
  codegen::choice().cache = std::move(cache);
}

KernelCacheStats kernel_cache_stats() {
  const std::shared_ptr<codegen::DiskCache> cache = codegen::disk_cache();
  return cache == nullptr ? KernelCacheStats{} : cache->stats();
}

}  // namespace anyshape
