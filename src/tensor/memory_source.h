// Where the blocks of a Memory come from: the system, or a device's driver. Asked where the cache has none.
#pragma once
#include <cstdint>

namespace anyshape {

// Threads ask at the same time.
class MemorySource {
 public:
  // Aligned to 64 bytes; null where there is no more.
  virtual void* take(int64_t capacity) noexcept = 0;
  virtual void give(void* block, int64_t capacity) noexcept = 0;

  // A larger block that begins with the contents of `block`, which is given up; null where there is no more. Asked for blocks of `grows_from()`
  // bytes and more; 0: none can grow.
  virtual int64_t grows_from() const noexcept { return 0; }
  virtual void* grow(void* block, int64_t capacity, [[maybe_unused]] int64_t wanted) noexcept {
    give(block, capacity);
    return nullptr;
  }

  // Bytes that the cache may keep.
  virtual int64_t most_kept() const noexcept = 0;

  // Where the host reads and writes what stands at `pointer` once nothing that was begun uses it; null where the host cannot. What failed on the
  // way throws.
  virtual void* on_host(void* pointer) = 0;

  // As texts of errors call it: "the system", "device \"cuda\"".
  virtual const char* name() const noexcept = 0;

 protected:
  ~MemorySource() = default;  // it lasts as long as its Memory
};

}  // namespace anyshape
