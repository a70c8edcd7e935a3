// Small blocks come from the C library, large ones straight from the kernel, so that giving one back really frees it.
#include "tensor/system_memory.h"

#include "tensor/poison.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace anyshape {
namespace {

constexpr int64_t mapped_from = int64_t{1} << 20;  // smaller ones fragment nothing worth a mapping
constexpr int64_t huge_page = int64_t{2} << 20;
constexpr int64_t huge_pages_from = int64_t{4} << 20;  // below, rounding up to huge pages could waste half
constexpr int64_t most_kept_of_any = int64_t{2} << 30;

void* map(int64_t bytes) noexcept {
  void* block = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

int64_t in_pages(int64_t bytes) noexcept {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

// Starts on a huge page: the first touch of a large block then costs one fault per 2 MiB instead of 512.
void* map_huge(int64_t bytes) noexcept {
  auto* start = static_cast<char*>(map(bytes + huge_page));
  if (start == nullptr) return map(bytes);
  const auto address = reinterpret_cast<uintptr_t>(start);
  const auto before = static_cast<int64_t>(-address & static_cast<uintptr_t>(huge_page - 1));
  if (before > 0) munmap(start, static_cast<size_t>(before));
  char* block = start + before;
  const int64_t used = in_pages(bytes);
  if (huge_page - before + bytes > used) munmap(block + used, static_cast<size_t>(huge_page - before + bytes - used));
  madvise(block, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return block;
}

}  // namespace

void* SystemMemory::take(int64_t capacity) noexcept {
  // A kernel that promises more than the machine has would end the process at the first touch.
  const int64_t memory = physical_memory();
  if (memory > 0 && capacity > memory) return nullptr;
  if (capacity >= huge_pages_from) return map_huge(capacity);
  if (capacity >= mapped_from) return map(capacity);
  return std::aligned_alloc(64, static_cast<size_t>(capacity));
}

void SystemMemory::give(void* block, int64_t capacity) noexcept {
  unpoison(block, capacity);  // the address may come back as somebody else's
  if (capacity >= mapped_from) {
    munmap(block, static_cast<size_t>(capacity));
  } else {
    std::free(block);
  }
}

void* SystemMemory::grow(void* block, int64_t capacity, int64_t wanted) noexcept {
  void* const grown = take(wanted);
  if (grown != nullptr) {
    // Whole huge pages, which move without being split. What comes is one mapping again, where the one was that kept it free.
    const int64_t moved = capacity / huge_page * huge_page;
    const auto wanted_pages = static_cast<size_t>(in_pages(wanted));
    if (mremap(block, static_cast<size_t>(moved), wanted_pages, MREMAP_MAYMOVE | MREMAP_FIXED, grown) == grown) {
      unpoison(block, capacity);
      if (capacity > moved) munmap(static_cast<char*>(block) + moved, static_cast<size_t>(capacity - moved));
      return grown;
    }
    // The addresses may be free by now, or somebody else's: they are left to themselves, as nothing of them has been touched.
  }
  give(block, capacity);
  return nullptr;
}

int64_t SystemMemory::most_kept() const noexcept {
  const int64_t quarter = physical_memory() / 4;
  return quarter > 0 ? std::min(quarter, most_kept_of_any) : most_kept_of_any;
}

int64_t physical_memory() noexcept {
  static const int64_t bytes = [] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages * page : 0;
  }();
  return bytes;
}

}  // namespace anyshape
