// What a library of routines does in a program, as plain data: sizes are formulas, and how the work is cut and run is the library's own. An op's
// LowerRule hands it over where it writes no loops (LowerCall::use_library).
#pragma once
#include <anyshape/dim.h>
#include <anyshape/dtype.h>
#include <anyshape/shape.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace anyshape {

// Of a product of matrices, for each entry of a batch: c [m, n] = op(a) [m, k] op(b) [k, n], where op transposes if asked. As formulas in a
// program, as slots of a table of sizes, and as numbers at a call.
template <class Size>
struct ProductSizes {
  struct Axis {  // of the batch: how far the matrices of two neighbours along it are apart, in elements; 0 where all share one
    Size size{}, step_a{}, step_b{};
  };

  Size m{}, n{}, k{};
  Size distance_a{}, distance_b{};  // between rows as stored
  Size packs{}, packed_distance{};  // 1: b is copied to scratch first, as [k, n], in rows that far apart
  int axes = 0;
  std::array<Axis, max_rank> batch{};  // the first `axes` count
};

template <class To, class From, class Map>
ProductSizes<To> mapped(const ProductSizes<From>& sizes, const Map& map) {
  ProductSizes<To> result{.m = map(sizes.m),
                          .n = map(sizes.n),
                          .k = map(sizes.k),
                          .distance_a = map(sizes.distance_a),
                          .distance_b = map(sizes.distance_b),
                          .packs = map(sizes.packs),
                          .packed_distance = map(sizes.packed_distance),
                          .axes = sizes.axes};
  for (size_t axis = 0; axis < static_cast<size_t>(sizes.axes); ++axis) {
    const auto& from = sizes.batch[axis];
    result.batch[axis] = {map(from.size), map(from.step_a), map(from.step_b)};
  }
  return result;
}

// In f32. Inputs a and b, output c, which has the rows of all entries under each other; scratch for the copy of b, if there ever is one.
struct ProductWork {
  bool transpose_a = false, transpose_b = false;
  ProductSizes<Dim> sizes;
};

// Of sorting along an axis: as many elements before it and behind it, and how many of the first in order are wanted. Where the rows along it are
// said by row splits, `size` and `count` are those of all rows together.
template <class Size>
struct SortSizes {
  Size outer{}, size{}, count{}, inner{};
};

template <class To, class From, class Map>
SortSizes<To> mapped(const SortSizes<From>& sizes, const Map& map) {
  return {.outer = map(sizes.outer), .size = map(sizes.size), .count = map(sizes.count), .inner = map(sizes.inner)};
}

// Input x, then row splits if rows are said by them; outputs: the elements in order, and where they stood in their row (i32). Equal ones keep their
// order, NaN comes last in both directions. Scratch: keys.
struct SortWork {
  Dtype dtype{};
  bool descending = false;
  bool by_splits = false;
  SortSizes<Dim> sizes;

  // Words of 64 bits of the key of one element: its bits in an order of unsigned numbers, and where it stands.
  static int64_t key_words(Dtype dtype) { return size_of(dtype) == 8 ? 2 : 1; }
};

// Of a convolution over three spatial axes; those that are not there come first, with one element, one tap and no padding. x [images, inputs...,
// channels], kernel [taps..., channels / groups, filters], y [images, outputs..., filters]: result o along an axis meets input
// o * stride + tap * dilation - before.
template <class Size>
struct ConvolutionSizes {
  struct Axis {
    Size input{}, output{}, taps{}, stride{}, dilation{}, before{};
  };

  Size images{}, channels{}, filters{}, groups{};
  std::array<Axis, 3> axes{};
  Size slices{};  // of the pixels, in a gradient of the kernel: so many partial sums stand in scratch, and are added in order
};

template <class To, class From, class Map>
ConvolutionSizes<To> mapped(const ConvolutionSizes<From>& sizes, const Map& map) {
  ConvolutionSizes<To> result{.images = map(sizes.images),
                              .channels = map(sizes.channels),
                              .filters = map(sizes.filters),
                              .groups = map(sizes.groups),
                              .slices = map(sizes.slices)};
  for (size_t axis = 0; axis < sizes.axes.size(); ++axis) {
    const auto& from = sizes.axes[axis];
    result.axes[axis] = {map(from.input), map(from.output), map(from.taps), map(from.stride), map(from.dilation), map(from.before)};
  }
  return result;
}

// As many slices of the pixels as a gradient of the kernel is cut into: a function of the other sizes alone, for formulas and for numbers. A slice
// has 512 pixels or more; a kernel of many elements is cut along its own axes instead, and its partial sums would take memory.
template <class Size>
Size convolution_slices(const ConvolutionSizes<Size>& sizes) {
  using std::max;
  using std::min;
  const auto number = [](int64_t value) { return Size(value); };
  const auto ceil_divide = [&](const Size& a, const Size& b) { return (a + b - number(1)) / b; };
  Size pixels = sizes.images, elements = sizes.channels / max(number(1), sizes.groups) * sizes.filters;
  for (const auto& axis : sizes.axes) {
    pixels = pixels * axis.output;
    elements = elements * axis.taps;
  }
  const Size most = min(ceil_divide(number(1 << 17), max(number(1), elements)), number(16));
  return max(number(1), min(most, ceil_divide(pixels, number(512))));
}

// In f32. Inputs x and kernel, output y; for the gradient of the input dy and kernel, output dx; for that of the kernel x and dy, output dkernel, and
// where there are several slices scratch for as many of it. What follows a result or a gradient of the input runs on blocks of its pixels and channels.
struct ConvolutionWork {
  enum class Wanted : uint8_t { Result, InputGradient, KernelGradient };
  Wanted wanted = Wanted::Result;
  ConvolutionSizes<Dim> sizes;
};

using LibraryWork = std::variant<ProductWork, SortWork, ConvolutionWork>;

// The sizes of one, in the same order of alternatives.
template <class Size>
using LibrarySizes = std::variant<ProductSizes<Size>, SortSizes<Size>, ConvolutionSizes<Size>>;

// Floating-point arithmetic that is done.
Dim flops_of(const LibraryWork& work);

// "product of [m, 3] and [3, 512]"
std::string to_string(const LibraryWork& work);

}  // namespace anyshape
