// A tensor as references in plain C++ see it: sizes and row-major elements as doubles; and the ways between it and a Tensor.
#pragma once
#include <anyshape/tensor.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anyshape::check {

using Sizes = std::vector<int64_t>;

struct Flat {
  Dtype dtype = Dtype::f32;
  Sizes sizes;
  std::vector<double> values;

  int rank() const { return static_cast<int>(sizes.size()); }
  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

int64_t count_of(const Sizes& sizes);

// The index along each axis of element `number`, and back.
Sizes unravel(int64_t number, const Sizes& sizes);
int64_t ravel(const Sizes& index, const Sizes& sizes);

// A result of `sizes` whose element at an index is what `element` says.
template <class Element>
Flat flat_from(Dtype dtype, const Sizes& sizes, const Element& element) {
  Flat result{dtype, sizes, std::vector<double>(static_cast<size_t>(count_of(sizes)))};
  for (int64_t i = 0; i < result.count(); ++i) result.values[static_cast<size_t>(i)] = element(unravel(i, sizes));
  return result;
}

// The element that broadcasting puts at this index of a larger shape.
double broadcast_at(const Flat& x, const Sizes& index);
Sizes broadcast_sizes(const Sizes& a, const Sizes& b);

Flat to_flat(const Tensor& tensor);    // denormals of floating tensors become zeros, as kernels see them
Tensor to_tensor(const Flat& values);  // row-major

struct Closeness {
  double relative = 0;
  double absolute = 0;
};

// Empty where the tensor has the reference's dtype, sizes and (up to the tolerance) values; else what differs first. Equal infinities and
// NaN with NaN agree; zeros agree whatever their signs; a result too small to be normal agrees with zero.
std::string difference(const Tensor& got, const Flat& expected, Closeness tolerance);

// Empty where dtype, sizes and bits agree; any NaN agrees with any other.
std::string difference_in_bits(const Tensor& got, const Tensor& expected);

std::string to_string(const Sizes& sizes);

}  // namespace anyshape::check
