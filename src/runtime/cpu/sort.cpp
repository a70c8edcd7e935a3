// Sorting by keys: an element becomes an unsigned number of the same order, joined with its index, so that any sorting is a stable one.
#include "runtime/cpu/sort.h"

#include <anyshape/error.h>

#include <fmt/format.h>

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

template <class Element>
void sort_elements(const SortedRow& row) {
  using Key = std::conditional_t<sizeof(Element) == 8, WideKey, NarrowKey>;
  const auto* x = static_cast<const Element*>(row.x);
  auto* values = static_cast<Element*>(row.values);
  auto* keys = static_cast<Key*>(row.keys);
  for (int64_t j = 0; j < row.size; ++j) new (keys + j) Key(ordered_bits(x[j * row.stride], row.descending), j);
  if (row.count < row.size) std::nth_element(keys, keys + row.count, keys + row.size);
  std::sort(keys, keys + row.count);
  for (int64_t j = 0; j < row.count; ++j) {
    const int32_t index = keys[j].index();
    row.indices[j * row.stride] = index;
    values[j * row.stride] = x[index * row.stride];
  }
}

}  // namespace

void sort_row(Dtype dtype, const SortedRow& row) {
  switch (dtype) {
    case Dtype::b8:
    case Dtype::u8: return sort_elements<uint8_t>(row);
    case Dtype::i32: return sort_elements<int32_t>(row);
    case Dtype::i64: return sort_elements<int64_t>(row);
    case Dtype::f32: return sort_elements<float>(row);
    case Dtype::f64: return sort_elements<double>(row);
    case Dtype::f16:
    case Dtype::bf16: break;  // ops compute in f32
  }
  throw InternalError(fmt::format("sort: rows of {} are not sorted", to_string(dtype)));
}

}  // namespace anyshape::runtime
