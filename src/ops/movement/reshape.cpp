// reshape: x -> the same elements in row-major order under another shape. One size may be -1: what is left. Axes of size 1 come and go by it.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "ops/shape_attrs.h"
#include "ops/sizes.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace anyshape {
namespace {

bool is_open(const Dim& size) { return size.is_constant() && size.value() == -1; }

// What is left for the -1 beside sizes of 0: each of them stands for one of x, as the same symbol would. Nothing where x has fewer.
std::optional<Dim> left_beside_zeros(const Shape& from, const Shape& target) {
  const auto is_zero = [](const Dim& size) { return size.is_constant() && size.value() == 0; };
  auto zeros = std::ranges::count_if(target, is_zero);
  Dim all = 1, known = 1;
  for (const Dim& size : from) {
    if (zeros > 0 && is_zero(size)) {
      --zeros;
    } else {
      all = all * size;
    }
  }
  for (const Dim& size : target) {
    if (!is_zero(size) && !is_open(size)) known = known * size;
  }
  if (zeros > 0 || (known.is_constant() && known.value() <= 0)) return std::nullopt;
  return all / known;
}

// The shape with its -1 replaced where that can be done; what cannot be is left for the shape rule to refuse.
Shape completed(const Shape& from, Shape shape) {
  int open = -1;
  Dim known = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!is_open(shape[axis])) {
      known = known * shape[axis];
    } else if (open >= 0) {
      return shape;
    } else {
      open = axis;
    }
  }
  if (open < 0) return shape;
  if (!known.is_constant() || known.value() > 0) {
    shape[open] = from.count() / known;
  } else if (const std::optional<Dim> left = left_beside_zeros(from, shape)) {
    shape[open] = *left;
  }
  return shape;
}

Specs shape(OpCall& call) {
  const Shape& target = call.attrs_as<ShapeAttrs>().shape;
  int open = 0;
  for (const Dim& size : target) open += is_open(size) ? 1 : 0;
  if (open > 1) call.fail(fmt::format("shape {} leaves {} sizes open", to_string(target), open), "at most one -1");
  if (open == 1)
    call.fail(fmt::format("shape {} has a -1 beside a size of 0", to_string(target)), "sizes that determine the one left open");
  require_sizes(call, target);
  call.require({Relation::Equal, target.count(), call.shape(0).count()}, fmt::format("cannot reshape to {}", to_string(target)),
               "the same number of elements");
  return {{call.inputs[0].dtype, target, {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) { return {reshape(call.dys[0], call.inputs[0].shape())}; }

Tensor view(std::span<const Tensor> inputs, const Attrs&, const TensorSpec& output) {
  std::array<int64_t, max_rank> sizes{};
  for (int axis = 0; axis < output.shape.rank(); ++axis) sizes[axis] = output.shape[axis].value();
  return reshape_view(inputs[0], {sizes.data(), static_cast<size_t>(output.shape.rank())});
}

// Rows and ragged axis stay; what stands behind them changes.
std::vector<Tensor> ragged(const RaggedCall& call) {
  const auto& [values, partition] = *as_ragged(call.inputs[0]);
  const Shape& target = call.attrs.as<ShapeAttrs>().shape;
  if (target.rank() < 2 || !target[1].same_as(partition->axis) || proves_equal(target[0], partition->rows) != true) {
    refuse(call, fmt::format("cannot reshape to {}", to_string(target)), "a shape that begins with the rows and the ragged axis");
  }
  Shape shape{partition->total};
  for (int axis = 2; axis < target.rank(); ++axis) shape.push_back(target[axis]);
  return {make_ragged(reshape(values, shape), partition)};
}

constexpr RowRule row_rule{.with_rows = shape_with_rows};

}  // namespace

constinit const OpDef reshape_op{.name = "reshape",
                                 .kind = OpKind::Movement,
                                 .inputs = 1,
                                 .dtype = dtype_rule::any,
                                 .shape = shape,
                                 .ragged = RaggedPolicy::PerRow,
                                 .ragged_rule = ragged,
                                 .gradient = gradient,
                                 .is_alias = true,
                                 .rows = &row_rule,
                                 .view = view,
                                 .attrs = [] { return Attrs(ShapeAttrs{}); },
                                 .traits = {.keeps_elements = true, .is_identity = always_identity}};

Tensor reshape(const Tensor& x, const Shape& shape) {
  const NamedCall call("reshape", x);
  const Shape from = x.shape();
  if (from.same_as(shape)) return cast(x, x.dtype());
  return bind(reshape_op, {x}, ShapeAttrs{x.is_ragged() ? shape : completed(from, shape)});
}

Tensor expand_dims(const Tensor& x, int64_t axis) {
  const NamedCall call("expand_dims", x);
  const int index = call.axis(axis, x.rank() + 1);
  const Shape from = x.shape();
  std::vector<Dim> sizes(from.begin(), from.end());
  sizes.insert(sizes.begin() + index, 1);
  return reshape(x, Shape(std::span<const Dim>(sizes)));
}

Tensor squeeze(const Tensor& x, const std::vector<int64_t>& axes) {
  const NamedCall call("squeeze", x);
  const Shape from = x.shape();
  std::array<bool, max_rank> goes{};
  for (int64_t named : axes) {
    const int axis = call.axis(named);
    if (goes[axis]) call.fail(fmt::format("axis {} is named twice", axis), "every axis at most once");
    if (!(from[axis] == 1)) call.fail(fmt::format("axis {} has the size {}", axis, to_string(from[axis])), "axes of size 1");
    goes[axis] = true;
  }
  Shape shape;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool stays = axes.empty() ? from[axis].is_ragged() || !(from[axis] == 1) : !goes[axis];
    if (stays) shape.push_back(from[axis]);
  }
  return reshape(x, shape);
}

}  // namespace anyshape
