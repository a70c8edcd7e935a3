// ONNX's ops about the order of elements.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/ops/scatter.h>

namespace anyshape::onnx {
namespace {

// Equal ones in the order in which they stand, greatest or least first.
Results top_k_rule(NodeCall& call) {
  const ElementType type = call.type(0);
  const Tensor x = ordered(call.tensor(0), type);
  const int64_t axis = call.axis(call.integer("axis", -1), x.rank());
  const Dim k = call.opset() >= 10 ? call.size(1) : Dim(call.integer("k"));
  if (call.flag("largest", true)) {
    const auto [values, indices] = top_k(x, k, {.axis = axis});
    return {Value(ordered(values, type), type), cast(indices, i64)};
  }
  std::vector<SliceRange> first(static_cast<size_t>(axis) + 1);
  first.back().end = k;
  const Tensor indices = slice(argsort(x, {.axis = axis}), first);
  return {Value(ordered(take_along_axis(x, indices, {.axis = axis}), type), type), cast(indices, i64)};
}

Results found(const Value& values, const Tensor& indices, const Tensor& inverse, const Tensor& counts) {
  return {values, cast(indices, i64), cast(inverse, i64), cast(counts, i64)};
}

// Of parts along an axis: each is compared with each, element by element.
Results unique_parts(NodeCall& call, const Tensor& x, int64_t axis) {
  const Tensor first = moveaxis(x, axis, 0);
  const Dim count = first.shape()[0];
  const Tensor rows = reshape(first, {count, -1}), a = expand_dims(rows, 1), b = expand_dims(rows, 0);  // [n, 1, m], [1, n, m]
  const Tensor differ = a != b;
  const Tensor is_equal = logical_not(any(differ, {.axis = 2}));
  const Tensor place = arange(count, {.dtype = i64});
  const Tensor first_equal = cast(argmax(cast(is_equal, i32), {.axis = 1}), i64);
  const Tensor is_first = first_equal == place;
  Tensor indices = cast(reshape(nonzero(is_first), {-1}), i64);
  if (call.flag("sorted", true)) {
    // How many different parts come before each: those that are less where the two first differ.
    const Tensor where_first = expand_dims(argmax(cast(differ, i32), {.axis = 2}), 2);
    const Tensor is_less = squeeze(take_along_axis(cast(b < a, i32), where_first, {.axis = 2}), 2);
    const Tensor before = sum(where(expand_dims(is_first, 0), is_less, 0), {.axis = 1});
    indices = take(indices, argsort(take(before, indices)));
  }
  const Tensor matches = expand_dims(take(first_equal, indices), 0) == expand_dims(first_equal, 1);  // [n, unique]
  const Tensor inverse = argmax(cast(matches, i32), {.axis = 1}), counts = sum(cast(matches, i64), {.axis = 0});
  return found(Value(take(x, indices, {.axis = axis}), call.type(0)), indices, inverse, counts);
}

Results unique_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const ElementType type = call.type(0);
  if (call.has("axis")) return unique_parts(call, x, call.axis(call.integer("axis", 0), x.rank()));
  const Tensor all = reshape(ordered(x, type), {-1});
  auto [values, inverse, counts] = unique(all, {.return_inverse = true, .return_counts = true});
  const Dim length = all.shape()[0];
  const Tensor place = arange(length, {.dtype = i64});
  Tensor indices = scatter_update(broadcast_to(Value::size(length).tensor(), values.shape()), expand_dims(inverse, 1), place, {.mode = ScatterMode::Minimum});
  if (!call.flag("sorted", true)) {
    const Tensor order = argsort(indices);
    inverse = take(argsort(order), inverse);
    values = take(values, order);
    counts = take(counts, order);
    indices = take(indices, order);
  }
  return found(Value(ordered(values, type), type), indices, inverse, counts);
}

constexpr RuleEntry entries[] = {{"TopK", 1, top_k_rule}, {"Unique", 11, unique_rule}};

}  // namespace

const RuleTable order_rules = entries;

}  // namespace anyshape::onnx
