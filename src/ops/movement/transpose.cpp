// transpose: x -> axis k of the result is axis permutation[k] of x.
#include "ops/movement/transpose.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const std::vector<int64_t>& permutation = call.attrs_as<TransposeAttrs>().permutation;
  const int rank = call.shape(0).rank();
  constexpr std::string_view rule = "every axis of the tensor once";
  if (static_cast<int>(permutation.size()) != rank) {
    call.fail(fmt::format("permutation [{}] has {} axes", fmt::join(permutation, ", "), permutation.size()), rule);
  }
  std::array<bool, max_rank> seen{};
  Shape result;
  for (int64_t named : permutation) {
    const int axis = call.axis(named, rank);
    if (named < 0) call.fail(fmt::format("permutation [{}] counts from the end", fmt::join(permutation, ", ")), rule);
    if (seen[axis]) call.fail(fmt::format("permutation [{}] names axis {} twice", fmt::join(permutation, ", "), axis), rule);
    seen[axis] = true;
    result.push_back(call.shape(0)[axis]);
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const std::vector<int64_t>& permutation = call.attrs.as<TransposeAttrs>().permutation;
  std::vector<int64_t> inverse(permutation.size());
  for (size_t axis = 0; axis < permutation.size(); ++axis) inverse[permutation[axis]] = static_cast<int64_t>(axis);
  return {transpose(call.dys[0], inverse)};
}

loop::Value element(ElementCall& call) {
  const std::vector<int64_t>& permutation = call.call.attrs_as<TransposeAttrs>().permutation;
  std::array<loop::Value, max_rank> index;
  for (size_t axis = 0; axis < permutation.size(); ++axis) index[permutation[axis]] = call.index[axis];
  return call.input(0, std::span(index.data(), permutation.size()));
}

Tensor view(std::span<const Tensor> inputs, const Attrs& attrs, const TensorSpec&) {
  const std::vector<int64_t>& permutation = attrs.as<TransposeAttrs>().permutation;
  std::array<int, max_rank> axes{};
  for (size_t axis = 0; axis < permutation.size(); ++axis) axes[axis] = static_cast<int>(permutation[axis]);
  return transpose_view(inputs[0], {axes.data(), permutation.size()});
}

// Rows and ragged axis stay in front.
std::vector<Tensor> ragged(const RaggedCall& call) {
  std::vector<int64_t> permutation = call.attrs.as<TransposeAttrs>().permutation;
  const Tensor& x = call.inputs[0];
  if (static_cast<int>(permutation.size()) != x.rank() || permutation[0] != 0 || permutation[1] != 1) {
    refuse(call, fmt::format("permutation [{}]", fmt::join(permutation, ", ")), "every axis once, the rows and the ragged axis in front");
  }
  permutation.erase(permutation.begin());
  for (int64_t& axis : permutation) axis -= axis > 0 ? 1 : 0;
  return {on_values(x, [&](const Tensor& values) { return bind(call.op, {values}, TransposeAttrs{permutation}); })};
}

bool keeps_order(const OpCall& call) { return std::ranges::is_sorted(call.attrs_as<TransposeAttrs>().permutation); }

}  // namespace

constinit const OpDef transpose_op{.name = "transpose",
                                   .kind = OpKind::Movement,
                                   .inputs = 1,
                                   .dtype = dtype_rule::any,
                                   .shape = shape,
                                   .ragged = RaggedPolicy::PerRow,
                                   .ragged_rule = ragged,
                                   .gradient = gradient,
                                   .element = element,
                                   .view = view,
                                   .attrs = [] { return Attrs(TransposeAttrs{}); },
                                   .traits = {.keeps_elements = true, .is_identity = keeps_order}};

Tensor transpose(const Tensor& x, const std::vector<int64_t>& permutation) {
  const NamedCall call("transpose", x);
  const int rank = x.rank();
  TransposeAttrs attrs{permutation};
  for (int64_t& axis : attrs.permutation) {
    if (axis < 0 && axis >= -rank) axis += rank;
  }
  if (permutation.empty()) {
    for (int axis = rank - 1; axis >= 0; --axis) attrs.permutation.push_back(axis);
  }
  return bind(transpose_op, {x}, std::move(attrs));
}

Tensor moveaxis(const Tensor& x, int64_t from, int64_t to) {
  const NamedCall call("moveaxis", x);
  const int source = call.axis(from), target = call.axis(to);
  std::vector<int64_t> permutation;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != source) permutation.push_back(axis);
  }
  permutation.insert(permutation.begin() + target, source);
  return transpose(x, permutation);
}

Tensor swapaxes(const Tensor& x, int64_t first, int64_t second) {
  const NamedCall call("swapaxes", x);
  const int a = call.axis(first), b = call.axis(second);
  std::vector<int64_t> permutation;
  for (int axis = 0; axis < x.rank(); ++axis) permutation.push_back(axis == a ? b : axis == b ? a : axis);
  return transpose(x, permutation);
}

}  // namespace anyshape
