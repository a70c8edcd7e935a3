// Sorting by keys: an element becomes an unsigned number of the same order, joined with its index, so that any sorting is a stable one.
#include "runtime/cpu/sort.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <limits>
#include <new>
#include <type_traits>

namespace anyshape::runtime {
namespace {

template <class Element>
using Bits = std::conditional_t<sizeof(Element) == 8, uint64_t, uint32_t>;

// Floats by their bits: negative ones reversed, NaN above everything in both directions; the two zeros are equal, and so are denormals,
// which kernels take for zeros when they compare.
template <class Element>
Bits<Element> ordered_bits(Element element, bool descending) {
  using B = Bits<Element>;
  constexpr B sign = B{1} << (8 * sizeof(B) - 1);
  B bits = 0;
  if constexpr (std::floating_point<Element>) {
    bits = std::bit_cast<B>(element);
    if ((bits & ~sign) > std::bit_cast<B>(std::numeric_limits<Element>::infinity())) return ~B{0};
    if ((bits & ~sign) < std::bit_cast<B>(std::numeric_limits<Element>::min())) bits = 0;
    bits = (bits & sign) != 0 ? ~bits : bits | sign;
  } else {
    bits = static_cast<B>(element);
    if constexpr (std::is_signed_v<Element>) bits ^= sign;
  }
  return descending ? ~bits : bits;
}

struct NarrowKey {
  uint64_t bits_and_index;
  NarrowKey(uint32_t bits, int64_t index) : bits_and_index(uint64_t{bits} << 32 | static_cast<uint64_t>(index)) {}
  int32_t index() const { return static_cast<int32_t>(bits_and_index & 0xffffffffU); }
  auto operator<=>(const NarrowKey&) const = default;
};

struct WideKey {
  uint64_t bits;
  int64_t at;
  WideKey(uint64_t bits, int64_t index) : bits(bits), at(index) {}
  int32_t index() const { return static_cast<int32_t>(at); }
  auto operator<=>(const WideKey&) const = default;
};

}  // namespace

template <class Element>
int32_t sort_row(AsContext*, void* const* pointers, const int64_t* integers) {
  using Key = std::conditional_t<sizeof(Element) == 8, WideKey, NarrowKey>;
  const auto* x = static_cast<const Element*>(pointers[0]);
  auto* values = static_cast<Element*>(pointers[1]);
  auto* indices = static_cast<int32_t*>(pointers[2]);
  auto* keys = static_cast<Key*>(pointers[3]);
  const int64_t size = integers[0], count = integers[1], stride = integers[2];
  const bool descending = integers[3] != 0;
  for (int64_t j = 0; j < size; ++j) new (keys + j) Key(ordered_bits(x[j * stride], descending), j);
  if (count < size) std::nth_element(keys, keys + count, keys + size);
  std::sort(keys, keys + count);
  for (int64_t j = 0; j < count; ++j) {
    const int32_t index = keys[j].index();
    indices[j * stride] = index;
    values[j * stride] = x[index * stride];
  }
  return 0;
}

template int32_t sort_row<uint8_t>(AsContext*, void* const*, const int64_t*);
template int32_t sort_row<int32_t>(AsContext*, void* const*, const int64_t*);
template int32_t sort_row<int64_t>(AsContext*, void* const*, const int64_t*);
template int32_t sort_row<float>(AsContext*, void* const*, const int64_t*);
template int32_t sort_row<double>(AsContext*, void* const*, const int64_t*);

}  // namespace anyshape::runtime
