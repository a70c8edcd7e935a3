// Objects on disk by the full text they were made from. The folder is private to the user, and what is not whole is not there.
#pragma once
#include "base/fork_mutex.h"

#include <anyshape/kernel_cache.h>

#include <mutex>
#include <optional>
#include <string>

namespace anyshape::codegen {

class DiskCache {
 public:
  explicit DiskCache(KernelCacheOptions options) : options_(std::move(options)) {}

  std::optional<std::string> find(const std::string& key);       // the bytes stored under exactly this key
  void store(const std::string& key, const std::string& bytes);  // a disk that is full or read-only loses nothing but time
  KernelCacheStats stats() const;

 private:
  void make_room() const;

  KernelCacheOptions options_;
  mutable ForkMutex mutex_;
  KernelCacheStats stats_;
  int64_t since_check_ = 0;  // bytes written since the folder's size was looked at
};

// A folder, made where it is not there, that others may neither own nor open.
struct PrivateFolder {
  std::filesystem::path path;  // absolute
  std::string fault;           // why it cannot be used; empty: it can
};
PrivateFolder private_folder(const std::filesystem::path& given);

}  // namespace anyshape::codegen
