// Size classes of the caching allocator: small ones are multiples of 64 bytes, above 1 KiB four to a power of two, so that at most a fifth is wasted
// and a stream of changing sizes meets few classes.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace anyshape {

inline constexpr int64_t load_slack = 512;                    // bytes past the end that loads may touch
inline constexpr int64_t max_class_bytes = int64_t{1} << 46;  // of the largest class
inline constexpr int size_class_count = 16 + 4 * 36;

constexpr int size_class_of(int64_t bytes) {
  if (bytes <= 1024) return static_cast<int>((std::max<int64_t>(bytes, 1) - 1) / 64);
  const auto last = static_cast<uint64_t>(bytes - 1);
  const int octave = std::bit_width(last) - 1;
  return 16 + (octave - 10) * 4 + static_cast<int>((last >> (octave - 2)) & 3);
}

// The largest request a block of the class serves.
constexpr int64_t bytes_of_class(int size_class) {
  if (size_class < 16) return (size_class + 1) * int64_t{64};
  const int octave = (size_class - 16) / 4 + 10;
  return (int64_t{1} << octave) + (((size_class - 16) % 4 + 1) * (int64_t{1} << (octave - 2)));
}

constexpr int64_t capacity_of_class(int size_class) { return bytes_of_class(size_class) + load_slack; }
constexpr int size_class_of_capacity(int64_t capacity) { return size_class_of(capacity - load_slack); }

static_assert(size_class_of(max_class_bytes) == size_class_count - 1);

}  // namespace anyshape
