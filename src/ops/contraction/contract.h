// Contractions of tensors whose axes have labels: equal labels are one index. What einsum and tensordot are made of.
#pragma once
#include <anyshape/tensor.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape {

// A tensor with one label per axis, all different.
struct Labelled {
  Tensor tensor;
  std::vector<int> labels;
};

bool has_label(std::span<const int> labels, int label);

// The tensor summed over every axis whose label is not among `kept`.
Labelled sum_others(const Labelled& x, std::span<const int> kept);

// The product of two tensors, summed over the labels that are not among `kept`: a matmul where both have axes of their own and share one
// that is summed, else an elementwise product. Labels in the order: shared, only of a, only of b.
Labelled contract(const Labelled& a, const Labelled& b, std::span<const int> kept);

// The tensor with its axes in this order of its labels.
Tensor arranged(const Labelled& x, std::span<const int> order);

// x under sizes that must be its own: symbolic ones become a check, and from there on are known to be equal. `names[axis]` is what to call
// the axis should they differ.
Tensor with_sizes(const Tensor& x, const Shape& sizes, std::span<const std::string> names);

}  // namespace anyshape
