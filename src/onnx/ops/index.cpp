// ONNX's ops whose indices are data.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

Tensor indices_of(const Tensor& x) { return x.dtype() == i32 || x.dtype() == i64 ? x : cast(x, i64); }

Results gather_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return take(x, indices_of(call.tensor(1)), {.axis = call.axis(call.integer("axis", 0), x.rank())});
}

// The indices may be fewer along other axes: what lies beyond is not looked at.
Results gather_elements_rule(NodeCall& call) {
  Tensor x = call.tensor(0);
  const Tensor indices = indices_of(call.tensor(1));
  const int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  if (indices.rank() != x.rank()) call.fail(fmt::format("indices of rank {} for data of rank {}", indices.rank(), x.rank()), "the same rank");
  std::vector<SliceRange> ranges(static_cast<size_t>(x.rank()));
  bool is_part = false;
  for (int each = 0; each < x.rank(); ++each) {
    if (each == axis || indices.shape()[each].same_as(x.shape()[each])) continue;
    ranges[static_cast<size_t>(each)].end = indices.shape()[each];
    is_part = true;
  }
  if (is_part) x = slice(x, ranges);
  return take_along_axis(x, indices, {.axis = axis});
}

// Leading axes that both share become components, too.
Results gather_nd_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  Tensor indices = indices_of(call.tensor(1));
  const int64_t shared = call.integer("batch_dims", 0);
  if (shared < 0 || shared >= indices.rank() || shared >= std::max(x.rank(), 1)) call.fail(fmt::format("batch_dims is {}", shared), "fewer than either has axes");
  if (shared > 0) {
    Shape one_each = indices.shape();
    one_each[-1] = 1;
    std::vector<Tensor> components;
    for (int axis = 0; axis < shared; ++axis) {
      Shape along;
      for (int each = 0; each < indices.rank(); ++each) along.push_back(each == axis ? indices.shape()[axis] : Dim(1));
      components.push_back(broadcast_to(reshape(arange(indices.shape()[axis], {.dtype = indices.dtype()}), along), one_each));
    }
    components.push_back(indices);
    indices = concat(components, -1);
  }
  return gather_nd(x, indices);
}

// Indices may be floats, and count from the end; those outside give "off" everywhere.
Results one_hot_rule(NodeCall& call) {
  const Tensor values = call.tensor(2);
  const Dim classes = is_floating(call.dtype(1)) ? Dim(static_cast<int64_t>(call.number(1))) : call.size(1);
  Tensor index = cast(call.tensor(0), i64);
  index = where(index < 0, index + Value::size(classes).tensor(), index);
  const int64_t axis = call.axis(call.integer("axis", -1), index.rank() + 1);
  const Tensor is_on = one_hot(index, classes, {.axis = axis, .dtype = i32}) != 0;
  return Value(where(is_on, values[1], values[0]), call.type(2));
}

Results non_zero_rule(NodeCall& call) { return cast(transpose(nonzero(call.tensor(0))), i64); }

// A condition may be shorter than the axis.
Results compress_rule(NodeCall& call) {
  Tensor x = call.tensor(0);
  const Tensor kept = reshape(nonzero(call.tensor(1)), {-1});
  if (!call.has("axis")) return take(reshape(x, {-1}), kept);
  return take(x, kept, {.axis = call.axis(call.integer("axis", 0), x.rank())});
}

Results array_feature_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const Tensor parts = take(x, reshape(indices_of(call.tensor(1)), {-1}), {.axis = x.rank() - 1});
  return x.rank() == 1 ? expand_dims(parts, 0) : parts;
}

constexpr RuleEntry entries[] = {
    {"Gather", 1, gather_rule},   {"GatherElements", 11, gather_elements_rule}, {"GatherND", 11, gather_nd_rule},
    {"OneHot", 9, one_hot_rule},  {"NonZero", 9, non_zero_rule},                {"Compress", 9, compress_rule},
    {"ArrayFeatureExtractor", 1, array_feature_rule, {}, "ai.onnx.ml"},
};

}  // namespace

const RuleTable index_rules = entries;

}  // namespace anyshape::onnx
