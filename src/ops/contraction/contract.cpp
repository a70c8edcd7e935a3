// From labels to transposes, reshapes, one matmul and sums. Shared sizes are the same expressions when this runs.
#include "ops/contraction/contract.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

using Labels = std::vector<int>;

Labels joined(std::initializer_list<std::span<const int>> parts) {
  Labels all;
  for (std::span<const int> part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const Dim& size_of_label(const Shape& shape, const Labels& labels, int label) {
  return shape[static_cast<int>(std::ranges::find(labels, label) - labels.begin())];
}

Shape sizes_of(const Labelled& x, std::span<const int> labels) {
  const Shape shape = x.tensor.shape();
  Shape sizes;
  for (int label : labels) sizes.push_back(size_of_label(shape, x.labels, label));
  return sizes;
}

// How the labels of two operands meet.
struct Meeting {
  Labels shared;  // in both and in the result
  Labels summed;  // in both, gone from the result
  Labels only_a;
  Labels only_b;
};

Meeting meeting_of(const Labelled& a, const Labelled& b, std::span<const int> kept) {
  Meeting meeting;
  for (int label : a.labels) {
    if (!has_label(b.labels, label))
      meeting.only_a.push_back(label);
    else
      (has_label(kept, label) ? meeting.shared : meeting.summed).push_back(label);
  }
  for (int label : b.labels) {
    if (!has_label(a.labels, label)) meeting.only_b.push_back(label);
  }
  return meeting;
}

// Nothing to sum, or nothing beside it: an elementwise product, which fuses with the sum behind it.
Labelled elementwise_product(const Labelled& a, const Labelled& b, const Meeting& meeting) {
  const Labels left = joined({meeting.shared, meeting.summed, meeting.only_a}),
               right = joined({meeting.shared, meeting.summed, meeting.only_b});
  Shape wide = sizes_of(b, joined({meeting.shared, meeting.summed}));
  for (size_t i = 0; i < meeting.only_a.size(); ++i) wide.push_back(1);
  for (const Dim& size : sizes_of(b, meeting.only_b)) wide.push_back(size);
  Shape left_sizes = sizes_of(a, left);
  for (size_t i = 0; i < meeting.only_b.size(); ++i) left_sizes.push_back(1);
  const Tensor product = reshape(arranged(a, left), left_sizes) * reshape(arranged(b, right), wide);
  return {product, joined({left, meeting.only_b})};
}

// An operand as a batch of matrices [shared..., rows, columns].
struct Matrices {
  Tensor tensor;
  bool transposed;  // stored [shared..., columns, rows], because that is how the axes lie already
};

Matrices matrices_of(const Labelled& x, const Labels& shared, const Labels& rows, const Labels& columns) {
  const Labels other = joined({shared, columns, rows});
  const bool transposed = x.labels == other && x.labels != joined({shared, rows, columns});
  Shape shape = sizes_of(x, shared);
  const Dim row_count = sizes_of(x, rows).count(), column_count = sizes_of(x, columns).count();
  shape.push_back(transposed ? column_count : row_count);
  shape.push_back(transposed ? row_count : column_count);
  return {reshape(transposed ? x.tensor : arranged(x, joined({shared, rows, columns})), shape), transposed};
}

Labelled matrix_product(const Labelled& a, const Labelled& b, const Meeting& meeting) {
  const Matrices left = matrices_of(a, meeting.shared, meeting.only_a, meeting.summed);
  const Matrices right = matrices_of(b, meeting.shared, meeting.summed, meeting.only_b);
  const Tensor product = matmul(left.tensor, right.tensor, {.transpose_a = left.transposed, .transpose_b = right.transposed});
  Shape shape = sizes_of(a, joined({meeting.shared, meeting.only_a}));
  for (const Dim& size : sizes_of(b, meeting.only_b)) shape.push_back(size);
  return {reshape(product, shape), joined({meeting.shared, meeting.only_a, meeting.only_b})};
}

struct SameSizesAttrs {
  Shape shape;
  std::vector<int64_t> names;  // of the axes: the characters of every name, each followed by 0
  template <class V>
  void visit(V& v) {
    v("shape", shape);
    v("names", names);
  }
};

std::string name_of_axis(const std::vector<int64_t>& characters, int axis) {
  std::string name;
  for (int64_t character : characters) {
    if (character != 0)
      name += static_cast<char>(character);
    else if (axis-- == 0)
      return name;
    else
      name.clear();
  }
  return name;
}

Specs same_sizes_shape(OpCall& call) {
  const SameSizesAttrs& attrs = call.attrs_as<SameSizesAttrs>();
  if (attrs.shape.rank() != call.shape(0).rank()) call.fail(fmt::format("ranks differ from {}", to_string(attrs.shape)), "equal ranks");
  for (int axis = 0; axis < attrs.shape.rank(); ++axis) {
    const Dim &size = call.shape(0)[axis], &wanted = attrs.shape[axis];
    call.require({Relation::Equal, size, wanted},
                 fmt::format("{} has the sizes {} and {}", name_of_axis(attrs.names, axis), to_string(wanted), to_string(size)),
                 "one size");
  }
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> same_sizes_gradient(const GradientCall& call) { return {reshape(call.dys[0], call.inputs[0].shape())}; }

}  // namespace

constinit const OpDef same_sizes_op{.name = "same_sizes",
                                    .kind = OpKind::Movement,
                                    .inputs = 1,
                                    .dtype = dtype_rule::any,
                                    .shape = same_sizes_shape,
                                    .gradient = same_sizes_gradient,
                                    .is_alias = true,
                                    .attrs = [] { return Attrs(SameSizesAttrs{}); },
                                    .traits = {.keeps_elements = true, .is_identity = always_identity}};

bool has_label(std::span<const int> labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

Tensor arranged(const Labelled& x, std::span<const int> order) {
  if (std::ranges::equal(x.labels, order)) return x.tensor;
  std::vector<int64_t> permutation;
  for (int label : order) permutation.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
  return transpose(x.tensor, permutation);
}

Labelled sum_others(const Labelled& x, std::span<const int> kept) {
  std::vector<int64_t> axes;
  Labels labels;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    if (has_label(kept, x.labels[axis]))
      labels.push_back(x.labels[axis]);
    else
      axes.push_back(static_cast<int64_t>(axis));
  }
  return axes.empty() ? x : Labelled{sum(x.tensor, {.axes = axes}), labels};
}

Labelled contract(const Labelled& a, const Labelled& b, std::span<const int> kept) {
  const Labelled left = sum_others(a, joined({kept, b.labels})), right = sum_others(b, joined({kept, a.labels}));
  const Meeting meeting = meeting_of(left, right, kept);
  const bool is_elementwise = meeting.summed.empty() || (meeting.only_a.empty() && meeting.only_b.empty());
  if (is_elementwise) return sum_others(elementwise_product(left, right, meeting), kept);
  return matrix_product(left, right, meeting);
}

Tensor with_sizes(const Tensor& x, const Shape& sizes, std::span<const std::string> names) {
  if (x.shape().same_as(sizes)) return x;
  SameSizesAttrs attrs{sizes, {}};
  for (const std::string& name : names) {
    attrs.names.insert(attrs.names.end(), name.begin(), name.end());
    attrs.names.push_back(0);
  }
  return bind(same_sizes_op, {x}, std::move(attrs));
}

}  // namespace anyshape
