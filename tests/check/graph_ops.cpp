// The table of ops of random graphs. Values stay moderate: what grows is taken through tanh first, so that differences are seen.
#include "check/graph_ops.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <numeric>

namespace anyshape::check {
namespace {

using Numbers = std::vector<int64_t>;
using In = std::span<const Tensor>;
using Drawn = std::optional<GraphNode>;

constexpr Axis one_axis = {1, 1, 1, 1, 1};

bool broadcasts(const Axis& a, const Axis& b) {
  for (int call = 0; call < graph_calls; ++call) {
    if (a[call] != b[call] && a[call] != 1 && b[call] != 1) return false;
  }
  return true;
}

bool broadcast_together(const Axes5& a, const Axes5& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!broadcasts(a[a.size() - 1 - i], b[b.size() - 1 - i])) return false;
  }
  return true;
}

bool broadcasts_to(const Axes5& from, const Axes5& to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i) {
    const Axis &a = from[from.size() - 1 - i], &b = to[to.size() - 1 - i];
    for (int call = 0; call < graph_calls; ++call) {
      if (a[call] != b[call] && a[call] != 1) return false;
    }
  }
  return true;
}

Axes5 together(const Axes5& a, const Axes5& b) {
  Axes5 result = a.size() < b.size() ? b : a;
  const Axes5& other = a.size() < b.size() ? a : b;
  for (size_t i = 0; i < other.size(); ++i) {
    Axis& axis = result[result.size() - 1 - i];
    for (int call = 0; call < graph_calls; ++call) axis[call] = axis[call] == 1 ? other[other.size() - 1 - i][call] : axis[call];
  }
  return result;
}

template <class Size>
Axis each(const Axis& axis, const Size& size) {
  Axis result;
  for (int call = 0; call < graph_calls; ++call) result[call] = size(axis[call]);
  return result;
}

int draw_axis(GraphDraft& draft, int value) {
  return static_cast<int>(draft.random.below(static_cast<int64_t>(draft.values[value].size())));
}

Drawn draw_unary(GraphDraft& draft) {
  const int x = draft.any_value();
  return GraphNode{0, {x}, {}, draft.values[x]};
}

Drawn draw_binary(GraphDraft& draft) {
  const int a = draft.any_value();
  const std::optional<int> b = draft.partner(a, broadcast_together);
  if (!b) return std::nullopt;
  return GraphNode{0, draft.random.chance(50) ? std::vector{a, *b} : std::vector{*b, a}, {}, together(draft.values[a], draft.values[*b])};
}

// numbers: keep_dims, then the axes.
Drawn draw_reduction(GraphDraft& draft) {
  const int x = draft.any_value();
  GraphNode node{0, {x}, {draft.random.below(2)}, {}};
  const Axes5& axes = draft.values[x];
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (draft.random.chance(60)) {
      node.numbers.push_back(draft.random.chance(50) ? static_cast<int64_t>(axis)
                                                     : static_cast<int64_t>(axis) - static_cast<int64_t>(axes.size()));
      if (node.numbers[0] != 0) node.result.push_back(one_axis);
    } else {
      node.result.push_back(axes[axis]);
    }
  }
  return node;
}

ReduceOptions reduce_options(const Numbers& numbers) {
  return {.axes = std::vector<int64_t>(numbers.begin() + 1, numbers.end()), .keep_dims = numbers[0] != 0};
}

// numbers: the axis. The result has x's axes.
Drawn draw_along(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1);
  if (!x) return std::nullopt;
  return GraphNode{0, {*x}, {draw_axis(draft, *x)}, draft.values[*x]};
}

Drawn draw_transpose(GraphDraft& draft) {
  const int x = draft.any_value();
  GraphNode node{0, {x}, Numbers(draft.values[x].size()), {}};
  std::iota(node.numbers.begin(), node.numbers.end(), 0);
  for (size_t i = node.numbers.size(); i > 1; --i)
    std::swap(node.numbers[i - 1], node.numbers[static_cast<size_t>(draft.random.below(static_cast<int64_t>(i)))]);
  for (const int64_t axis : node.numbers) node.result.push_back(draft.values[x][static_cast<size_t>(axis)]);
  return node;
}

// Two neighbouring axes become one. numbers: the first of them.
Drawn draw_join(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(2);
  if (!x) return std::nullopt;
  Axes5 result = draft.values[*x];
  const auto axis = static_cast<size_t>(draft.random.below(static_cast<int64_t>(result.size()) - 1));
  for (int call = 0; call < graph_calls; ++call) result[axis][call] *= result[axis + 1][call];
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return GraphNode{0, {*x}, {static_cast<int64_t>(axis)}, result};
}

Tensor join(In in, const Numbers& numbers) {
  const Shape from = in[0].shape();
  Shape to;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (axis == numbers[0]) to.push_back(from[axis] * from[axis + 1]);
    if (axis != numbers[0] && axis != numbers[0] + 1) to.push_back(from[axis]);
  }
  return reshape(in[0], to);
}

Drawn draw_expand(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(0, 3);
  if (!x) return std::nullopt;
  Axes5 result = draft.values[*x];
  const int64_t axis = draft.random.between(0, static_cast<int64_t>(result.size()));
  result.insert(result.begin() + axis, one_axis);
  return GraphNode{0, {*x}, {axis}, result};
}

Tensor expand(In in, const Numbers& numbers) {
  Shape to;
  for (int axis = 0; axis <= in[0].rank(); ++axis) {
    if (axis == numbers[0]) to.push_back(1);
    if (axis < in[0].rank()) to.push_back(in[0].shape()[axis]);
  }
  return reshape(in[0], to);
}

Drawn draw_broadcast_to(GraphDraft& draft) {
  const int x = draft.any_value();
  const std::optional<int> like = draft.partner(x, broadcasts_to);
  if (!like) return std::nullopt;
  return GraphNode{0, {x, *like}, {}, draft.values[*like]};
}

Drawn draw_sum_to(GraphDraft& draft) {
  const int like = draft.any_value();
  const std::optional<int> x = draft.partner(like, broadcasts_to);
  if (!x) return std::nullopt;
  return GraphNode{0, {*x, like}, {}, draft.values[like]};
}

// All but the first element along an axis, or all but the last.
Drawn draw_slice(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1);
  if (!x) return std::nullopt;
  const int axis = draw_axis(draft, *x);
  Axes5 result = draft.values[*x];
  result[static_cast<size_t>(axis)] = each(result[static_cast<size_t>(axis)], [](int64_t n) { return std::max<int64_t>(n - 1, 0); });
  return GraphNode{0, {*x}, {axis, draft.random.below(2)}, result};
}

Tensor run_slice(In in, const Numbers& numbers) {
  std::vector<SliceRange> ranges(static_cast<size_t>(numbers[0]) + 1);
  if (numbers[1] != 0)
    ranges.back().begin = 1;
  else
    ranges.back().end = -1;
  return slice(in[0], ranges);
}

Drawn draw_concat(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1);
  if (!x) return std::nullopt;
  const auto axis = static_cast<size_t>(draw_axis(draft, *x));
  Axes5 result = draft.values[*x];
  for (int tries = 0; tries < 20; ++tries) {
    const int other = draft.any_value();
    Axes5 theirs = draft.values[other];
    if (theirs.size() != result.size()) continue;
    const Axis added = theirs[axis];
    theirs[axis] = result[axis];
    if (theirs != result) continue;
    for (int call = 0; call < graph_calls; ++call) result[axis][call] += added[call];
    return GraphNode{0, {*x, other}, {static_cast<int64_t>(axis)}, result};
  }
  return std::nullopt;
}

// Along an axis: two elements more before, one more behind.
Drawn draw_pad(GraphDraft& draft) {
  Drawn node = draw_along(draft);
  if (node)
    node->result[static_cast<size_t>(node->numbers[0])] =
        each(node->result[static_cast<size_t>(node->numbers[0])], [](int64_t n) { return n + 3; });
  return node;
}

Tensor run_pad(In in, const Numbers& numbers) {
  std::vector<PadWidth> widths(static_cast<size_t>(numbers[0]) + 1);
  widths.back() = {2, 1};
  return pad(in[0], widths, {.value = 0.5});
}

Drawn draw_stack(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(0, 3);
  if (!x) return std::nullopt;
  const std::optional<int> other = draft.partner(*x, [](const Axes5& a, const Axes5& b) { return a == b; });
  if (!other) return std::nullopt;
  Axes5 result = draft.values[*x];
  const int64_t axis = draft.random.between(0, static_cast<int64_t>(result.size()));
  result.insert(result.begin() + axis, Axis{2, 2, 2, 2, 2});
  return GraphNode{0, {*x, *other}, {axis}, result};
}

Drawn draw_matmul(GraphDraft& draft) {
  const std::optional<int> a = draft.value_of_rank(2, 3);
  if (!a) return std::nullopt;
  const Axes5& left = draft.values[*a];
  for (int tries = 0; tries < 20; ++tries) {
    const std::optional<int> b = draft.value_of_rank(2, 2);
    if (!b) return std::nullopt;
    const Axes5& right = draft.values[*b];
    const bool transposed = draft.random.chance(50);
    if (right[transposed ? 1 : 0] != left.back()) continue;
    Axes5 result = left;
    result.back() = right[transposed ? 0 : 1];
    return GraphNode{0, {*a, *b}, {transposed ? 1 : 0}, result};
  }
  return std::nullopt;
}

// Every vector along the last axis times itself, a square; and the diagonals of what has two axes.
Drawn draw_square(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1, 3);
  if (!x) return std::nullopt;
  Axes5 result = draft.values[*x];
  result.push_back(result.back());
  return GraphNode{0, {*x}, {}, result};
}

Drawn draw_diagonal(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(2);
  if (!x) return std::nullopt;
  Axes5 result = draft.values[*x];
  const Axis columns = result.back();
  result.pop_back();
  for (int call = 0; call < graph_calls; ++call) result.back()[call] = std::min(result.back()[call], columns[call]);
  return GraphNode{0, {*x}, {}, result};
}

// Only of what is square at every call.
Drawn draw_trace(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(2);
  if (!x) return std::nullopt;
  Axes5 result = draft.values[*x];
  if (result[result.size() - 1] != result[result.size() - 2]) return std::nullopt;
  result.resize(result.size() - 2);
  return GraphNode{0, {*x}, {}, result};
}

// Images of few elements; the last number is the stride of "same" windows along the first spatial axis.
Drawn draw_windows(GraphDraft& draft, bool doubles_channels) {
  const std::optional<int> x = draft.value_of_rank(3, 5);
  if (!x) return std::nullopt;
  const int64_t stride = draft.random.between(1, 3);
  Axes5 result = draft.values[static_cast<size_t>(*x)];
  for (int call = 0; call < graph_calls; ++call) {
    const auto k = static_cast<size_t>(call);
    result[1][k] = (result[1][k] + stride - 1) / stride;
    if (doubles_channels) result.back()[k] *= 2;
  }
  return GraphNode{0, {*x}, {stride}, result};
}
Drawn draw_pool(GraphDraft& draft) { return draw_windows(draft, false); }
Drawn draw_conv(GraphDraft& draft) { return draw_windows(draft, true); }

PerAxis strides_along_the_first(const Tensor& x, const Numbers& numbers) {
  std::vector<int64_t> strides(static_cast<size_t>(x.rank() - 2), 1);
  strides[0] = numbers[0];
  return PerAxis(strides);
}

// Every channel makes two, with a kernel that is data, too.
Tensor run_conv(In in, const Numbers& numbers) {
  const Tensor x = tanh(in[0]);
  Shape kernel(std::vector<Dim>(static_cast<size_t>(x.rank() - 2), Dim(2)));
  kernel.push_back(x.shape()[-1]);
  kernel.push_back(2);
  const Tensor weights = ones(kernel, {.dtype = x.dtype()}) * tanh(sum(x)) * 0.25;
  return depthwise_conv(x, weights, {.strides = strides_along_the_first(x, numbers), .padding = "same"});
}

const std::vector<GraphOp>& table() {
  static const std::vector<GraphOp> ops = {
      {"tanh", draw_unary, [](In in, const Numbers&) { return tanh(in[0]); }},
      {"negative", draw_unary, [](In in, const Numbers&) { return -in[0]; }},
      {"relu", draw_unary, [](In in, const Numbers&) { return relu(in[0]); }},
      {"exp(tanh)", draw_unary, [](In in, const Numbers&) { return exp(tanh(in[0])); }},
      {"log(1 + x * x)", draw_unary, [](In in, const Numbers&) { return log(1 + in[0] * in[0]); }},
      {"through b8", draw_unary, [](In in, const Numbers&) { return cast(in[0] > 0, in[0].dtype()) * in[0]; }},
      {"add", draw_binary, [](In in, const Numbers&) { return in[0] + in[1]; }},
      {"subtract", draw_binary, [](In in, const Numbers&) { return in[0] - in[1]; }},
      {"multiply", draw_binary, [](In in, const Numbers&) { return tanh(in[0]) * in[1]; }},
      {"divide", draw_binary, [](In in, const Numbers&) { return in[0] / (1 + in[1] * in[1]); }},
      {"maximum", draw_binary, [](In in, const Numbers&) { return maximum(in[0], in[1]); }},
      {"where", draw_binary, [](In in, const Numbers&) { return where(in[0] < in[1], in[0], in[1] * 0.5); }},
      {"sum", draw_reduction, [](In in, const Numbers& numbers) { return sum(in[0], reduce_options(numbers)); }},
      {"mean", draw_reduction, [](In in, const Numbers& numbers) { return mean(in[0], reduce_options(numbers)); }},
      {"max", draw_reduction, [](In in, const Numbers& numbers) { return tanh(max(in[0], reduce_options(numbers))); }},
      {"min", draw_reduction, [](In in, const Numbers& numbers) { return tanh(min(in[0], reduce_options(numbers))); }},
      {"var", draw_reduction,
       [](In in, const Numbers& numbers) {
         const ReduceOptions options = reduce_options(numbers);
         return var(in[0], {.axes = options.axes, .keep_dims = options.keep_dims});
       }},
      {"cumsum", draw_along, [](In in, const Numbers& numbers) { return cumsum(tanh(in[0]), {.axis = numbers[0]}); }},
      {"flip", draw_along, [](In in, const Numbers& numbers) { return flip(in[0], {numbers[0]}); }},
      {"roll", draw_along, [](In in, const Numbers& numbers) { return roll(in[0], 2, {.axis = numbers[0]}); }},
      {"sort", draw_along, [](In in, const Numbers& numbers) { return sort(in[0], {.axis = numbers[0]}); }},
      {"pad", draw_pad, run_pad},
      {"stack", draw_stack, [](In in, const Numbers& numbers) { return stack({in[0], in[1]}, {.axis = numbers[0]}); }},
      {"softmax", draw_along, [](In in, const Numbers& numbers) { return softmax(in[0], {.axis = numbers[0]}); }},
      {"log_softmax", draw_along, [](In in, const Numbers& numbers) { return log_softmax(in[0], {.axis = numbers[0]}); }},
      {"take every index", draw_along,
       [](In in, const Numbers& numbers) {
         return take(in[0], arange(in[0].shape()[static_cast<int>(numbers[0])]), {.axis = numbers[0]});
       }},
      {"x by itself", draw_square, [](In in, const Numbers&) { return expand_dims(in[0], -1) * expand_dims(tanh(in[0]), -2); }},
      {"diag", draw_diagonal, [](In in, const Numbers&) { return diag(in[0]); }},
      {"trace", draw_trace, [](In in, const Numbers&) { return einsum("...ii->...", {in[0]}); }},
      {"transpose", draw_transpose, [](In in, const Numbers& numbers) { return transpose(in[0], numbers); }},
      {"join two axes", draw_join, join},
      {"add an axis", draw_expand, expand},
      {"broadcast_to", draw_broadcast_to, [](In in, const Numbers&) { return broadcast_to(in[0], in[1].shape()); }},
      {"sum_to", draw_sum_to, [](In in, const Numbers&) { return sum_to(in[0], in[1].shape()); }},
      {"slice", draw_slice, run_slice},
      {"concat", draw_concat, [](In in, const Numbers& numbers) { return concat({in[0], in[1]}, {.axis = numbers[0]}); }},
      {"matmul", draw_matmul, [](In in, const Numbers& numbers) { return matmul(in[0], tanh(in[1]), {.transpose_b = numbers[0] != 0}); }},
      {"conv", draw_conv, run_conv},
      {"max_pool", draw_pool,
       [](In in, const Numbers& numbers) {
         return tanh(max_pool(in[0], 2, {.strides = strides_along_the_first(in[0], numbers), .padding = "same"}));
       }},
      {"average_pool", draw_pool,
       [](In in, const Numbers& numbers) {
         return average_pool(in[0], 3, {.strides = strides_along_the_first(in[0], numbers), .padding = "same"});
       }},
  };
  return ops;
}

}  // namespace

int GraphDraft::any_value() {
  const auto count = static_cast<int64_t>(values.size());
  return static_cast<int>(random.chance(50) ? count - 1 - random.below(std::min<int64_t>(count, 3)) : random.below(count));
}

std::optional<int> GraphDraft::value_of_rank(int least, int most) {
  for (int tries = 0; tries < 20; ++tries) {
    const int value = any_value();
    const int rank = static_cast<int>(values[static_cast<size_t>(value)].size());
    if (rank >= least && rank <= most) return value;
  }
  return std::nullopt;
}

std::optional<int> GraphDraft::partner(int value, bool (*fits)(const Axes5&, const Axes5&)) {
  for (int tries = 0; tries < 20; ++tries) {
    const int other = any_value();
    if (other != value && fits(values[static_cast<size_t>(value)], values[static_cast<size_t>(other)])) return other;
  }
  return std::nullopt;
}

const std::vector<GraphOp>& graph_ops() {
  static const std::vector<GraphOp> all = [] {
    std::vector<GraphOp> ops = table();
    for (const std::vector<GraphOp>& more : {control_graph_ops(), data_graph_ops()}) ops.insert(ops.end(), more.begin(), more.end());
    return ops;
  }();
  return all;
}

}  // namespace anyshape::check
