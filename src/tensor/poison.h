// Marks memory that may not be touched, where the address sanitizer is there to notice: cached blocks, and what lies past a buffer's slack.
#pragma once
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define ANYSHAPE_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ANYSHAPE_POISONS 1
#endif
#endif

#ifdef ANYSHAPE_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace anyshape {

inline void poison([[maybe_unused]] void* block, [[maybe_unused]] int64_t begin, [[maybe_unused]] int64_t end) noexcept {
#ifdef ANYSHAPE_POISONS
  if (begin < end) __asan_poison_memory_region(static_cast<char*>(block) + begin, static_cast<size_t>(end - begin));
#endif
}

inline void unpoison([[maybe_unused]] void* block, [[maybe_unused]] int64_t bytes) noexcept {
#ifdef ANYSHAPE_POISONS
  __asan_unpoison_memory_region(block, static_cast<size_t>(bytes));
#endif
}

}  // namespace anyshape
