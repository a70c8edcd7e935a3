// A source of memory that nobody may touch: one who does ends the test program.
#pragma once
#include "tensor/memory_source.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace anyshape::test {

class FakeSource final : public MemorySource {
 public:
  void* take(int64_t capacity) noexcept override {
    if (fails) return nullptr;
    const std::lock_guard guard(mutex_);
    if (held_ + capacity > room) return nullptr;
    void* const block = mmap(nullptr, static_cast<size_t>(capacity), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    blocks_[block] = capacity;
    held_ += capacity;
    return block;
  }
  void give(void* block, int64_t capacity) noexcept override {
    const std::lock_guard guard(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second != capacity) {
      ++wrong_gives;
      return;
    }
    blocks_.erase(found);
    held_ -= capacity;
    munmap(block, static_cast<size_t>(capacity));
  }
  int64_t most_kept() const noexcept override { return kept; }
  void* on_host(void*) override { return nullptr; }
  const char* name() const noexcept override { return "device \"fake\""; }

  int64_t held() {
    const std::lock_guard guard(mutex_);
    return held_;
  }

  int64_t room = int64_t{1} << 40;  // bytes there are
  int64_t kept = int64_t{1} << 30;
  std::atomic<bool> fails{false};
  std::atomic<int> wrong_gives{0};  // of what it has not given, or of another size

 private:
  std::mutex mutex_;
  std::map<void*, int64_t> blocks_;
  int64_t held_ = 0;
};

}  // namespace anyshape::test
