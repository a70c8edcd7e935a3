// ONNX's reductions, running sums and positions of extremes.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <limits>
#include <numeric>

namespace anyshape::onnx {
namespace {

// The axes are an attribute at first, and an input later; none of them are all, unless that means none.
std::optional<std::vector<int64_t>> reduced_axes(NodeCall& call, int rank) {
  std::vector<int64_t> axes;
  if (call.has(1)) axes = call.integers(1);
  else if (call.has("axes")) axes = call.integers("axes");
  if (axes.empty()) {
    if (call.flag("noop_with_empty_axes")) return std::nullopt;
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return call.axes(axes, rank);
}

Tensor same(const Tensor& x) { return x; }

// `before` each element, the sum or the like of the axes, `after` the result.
template <Tensor (*before)(const Tensor&), Tensor (*reduce)(const Tensor&, ReduceOptions), Tensor (*after)(const Tensor&)>
Results reduction(NodeCall& call) {
  const Tensor given = call.tensor(0);
  const std::optional<std::vector<int64_t>> axes = reduced_axes(call, given.rank());
  // Halves are added up in f32.
  const Tensor x = before(is_floating(given.dtype()) && size_of(given.dtype()) == 2 ? cast(given, f32) : given);
  const Tensor result = after(axes ? reduce(x, {.axes = *axes, .keep_dims = call.flag("keepdims", true)}) : x);
  return wrapped(cast(result, given.dtype()), call.type(0));
}

Tensor mean_of(const Tensor& x, ReduceOptions options) {
  return is_floating(x.dtype()) ? mean(x, options) : trunc(mean(cast(x, f64), options));
}
Tensor logsumexp_of(const Tensor& x, ReduceOptions options) { return logsumexp(x, options); }

// Of nothing a float is infinite.
template <bool greatest>
Results extreme(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const ElementType type = call.type(0);
  const std::optional<std::vector<int64_t>> axes = reduced_axes(call, x.rank());
  if (!axes) return call.value(0);
  const ReduceOptions options{.axes = *axes, .keep_dims = call.flag("keepdims", true)};
  if (x.dtype() == b8) return greatest ? any(x, options) : all(x, options);
  const Tensor numbers = ordered(x, type), result = greatest ? max(numbers, options) : min(numbers, options);
  bool is_of_nothing = false;
  for (const int64_t axis : *axes) is_of_nothing = is_of_nothing || x.shape()[static_cast<int>(axis)].same_as(0);
  if (is_of_nothing && is_floating(x.dtype())) {
    return full(result.shape(), (greatest ? -1 : 1) * std::numeric_limits<double>::infinity(), {.dtype = x.dtype()});
  }
  return Value(ordered(result, type), type);
}

template <Tensor (*op)(const Tensor&, ArgExtremeOptions)>
Results position(NodeCall& call) {
  const Tensor x = ordered(call.tensor(0), call.type(0));
  const int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  const ArgExtremeOptions options{.axis = axis, .keep_dims = call.flag("keepdims", true)};
  if (!call.flag("select_last_index")) return cast(op(x, options), i64);
  const Value last = Value::size(x.shape()[static_cast<int>(axis)] - 1);
  return last.tensor() - cast(op(flip(x, axis), options), i64);
}

template <Tensor (*op)(const Tensor&, CumulateOptions)>
Results cumulative(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t axis = call.axis(call.integer(1), x.rank());
  return wrapped(op(x, {.axis = axis, .reverse = call.flag("reverse"), .exclusive = call.flag("exclusive")}), call.type(0));
}

constexpr RuleEntry entries[] = {
    {"ReduceSum", 1, reduction<same, sum, same>},
    {"ReduceMean", 1, reduction<same, mean_of, same>},
    {"ReduceProd", 1, reduction<same, prod, same>},
    {"ReduceL1", 1, reduction<abs, sum, same>},
    {"ReduceL2", 1, reduction<square, sum, sqrt>},
    {"ReduceLogSum", 1, reduction<same, sum, log>},
    {"ReduceLogSumExp", 1, reduction<same, logsumexp_of, same>},
    {"ReduceSumSquare", 1, reduction<square, sum, same>},
    {"ReduceMax", 1, extreme<true>},
    {"ReduceMin", 1, extreme<false>},
    {"ArgMax", 1, position<argmax>},
    {"ArgMin", 1, position<argmin>},
    {"CumSum", 11, cumulative<cumsum>},
    {"CumProd", 26, cumulative<cumprod>},
};

}  // namespace

const RuleTable reduce_rules = entries;

}  // namespace anyshape::onnx
