// ONNX's ops that put elements elsewhere, axis by axis.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::onnx {
namespace {

// 0 keeps the input's size of that axis, -1 is what is left.
Results reshape_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const bool zero_is_zero = call.flag("allowzero");
  Shape shape;
  for (const Dim& size : call.sizes(1)) {
    const bool keeps = !zero_is_zero && size.is_constant() && size.value() == 0;
    shape.push_back(keeps ? x.shape()[static_cast<int>(call.axis(shape.rank(), x.rank()))] : size);
  }
  return reshape(x, shape);
}

Results flatten_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t given = call.integer("axis", 1), axis = given == x.rank() ? given : call.axis(given, x.rank());
  Dim rows = 1, columns = 1;
  for (int each = 0; each < x.rank(); ++each) (each < axis ? rows : columns) = (each < axis ? rows : columns) * x.shape()[each];
  return reshape(x, {rows, columns});
}

// The axes are an attribute up to opset 12, then an input.
std::optional<std::vector<int64_t>> named_axes(NodeCall& call) {
  if (call.has(1)) return call.integers(1);
  if (call.has("axes")) return call.integers("axes");
  return std::nullopt;
}

Results squeeze_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const std::optional<std::vector<int64_t>> axes = named_axes(call);
  if (!axes) return squeeze(x);
  return axes->empty() ? x : squeeze(x, call.axes(*axes, x.rank()));
}

Results unsqueeze_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const std::vector<int64_t> given = named_axes(call).value_or(std::vector<int64_t>{});
  const int rank = x.rank() + static_cast<int>(given.size());
  const std::vector<int64_t> axes = call.axes(given, rank);
  Shape shape;
  int from = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const bool is_new = std::ranges::find(axes, axis) != axes.end();
    if (!is_new && from >= x.rank()) call.fail("an axis is named twice", "each new axis once");
    shape.push_back(is_new ? Dim(1) : x.shape()[from++]);
  }
  return reshape(x, shape);
}

Results transpose_rule(NodeCall& call) { return transpose(call.tensor(0), call.integers("perm")); }

Results concat_rule(NodeCall& call) {
  if (call.inputs() == 0) call.fail("there are no inputs", "at least one");
  return concat(call.tensors(), call.axis(call.integer("axis", 1), call.rank(0)));
}

// Both broadcast: a size of 1 in the shape keeps what the input has.
Results expand_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const std::vector<Dim> wanted = call.sizes(1);
  const int rank = std::max(x.rank(), static_cast<int>(wanted.size()));
  Shape shape;
  for (int axis = -rank; axis < 0; ++axis) {
    const bool is_given = -axis <= x.rank(), is_wanted = -axis <= static_cast<int>(wanted.size());
    const Dim size = is_given ? x.shape()[axis] : Dim(1), other = is_wanted ? wanted[wanted.size() - static_cast<size_t>(-axis)] : Dim(1);
    shape.push_back(size.same_as(1) ? other : other.same_as(1) ? size : bcast(size, other));
  }
  return broadcast_to(x, shape);
}

Results tile_rule(NodeCall& call) { return tile(call.tensor(0), call.sizes(1)); }

Results trilu_rule(NodeCall& call) {
  const DiagonalOptions options{.offset = call.has(1) ? call.integer(1) : 0};
  return call.flag("upper", true) ? triu(call.tensor(0), options) : tril(call.tensor(0), options);
}

// The rows of a batch, each with its first elements in the reverse order.
Results reverse_sequence_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), lengths = cast(call.tensor(1), i64);
  const int64_t time = call.axis(call.integer("time_axis", 0), x.rank()), batch = call.axis(call.integer("batch_axis", 1), x.rank());
  Shape along_time, along_batch;
  for (int axis = 0; axis < x.rank(); ++axis) {
    along_time.push_back(axis == time ? x.shape()[axis] : Dim(1));
    along_batch.push_back(axis == batch ? x.shape()[axis] : Dim(1));
  }
  const Tensor step = reshape(arange(x.shape()[static_cast<int>(time)], {.dtype = i64}), along_time), length = reshape(lengths, along_batch);
  const Tensor from = where(step < length, length - 1 - step, step);
  return take_along_axis(x, broadcast_to(from, x.shape()), {.axis = time});
}

constexpr RuleEntry entries[] = {
    {"Reshape", 5, reshape_rule},     {"Flatten", 1, flatten_rule},     {"Squeeze", 1, squeeze_rule},
    {"Unsqueeze", 1, unsqueeze_rule}, {"Transpose", 1, transpose_rule}, {"Concat", 4, concat_rule},
    {"Expand", 8, expand_rule},       {"Tile", 6, tile_rule},           {"Trilu", 14, trilu_rule},
    {"ReverseSequence", 10, reverse_sequence_rule},
};

}  // namespace

const RuleTable movement_rules = entries;

}  // namespace anyshape::onnx
