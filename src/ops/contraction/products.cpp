// Products of two tensors that are said by others: outer, tensordot, dot, vdot.
#include "graph/named_call.h"
#include "ops/contraction/contract.h"
#include "ops/ragged/rules.h"
#include "shape/prove.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace anyshape {
namespace {

Tensor flat(const Tensor& x) { return reshape(x, {x.shape().count()}); }

// Axes counted from the front, each at most once.
std::vector<int> valid_axes(const NamedCall& call, const Tensor& x, const std::vector<int64_t>& axes) {
  std::vector<int> result;
  for (int64_t axis : axes) {
    result.push_back(call.axis(axis, x.rank()));
    if (std::ranges::count(result, result.back()) > 1)
      call.fail(fmt::format("axis {} is named twice", result.back()), "every axis at most once");
  }
  return result;
}

}  // namespace

Tensor outer(const Tensor& a, const Tensor& b) {
  const NamedCall call("outer", a, b);
  if (a.is_ragged() || b.is_ragged()) {
    call.fail("an operand is ragged, and all elements of a meet all of b",
              "dense operands. Use x.values() for the elements of all rows, or to_padded(x) for the rows as a dense tensor");
  }
  return reshape(a, {a.shape().count(), 1}) * reshape(b, {1, b.shape().count()});
}

Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes_a, const std::vector<int64_t>& axes_b) {
  const NamedCall call("tensordot", a, b);
  if (axes_a.size() != axes_b.size()) call.fail(fmt::format("{} axes of a meet {} of b", axes_a.size(), axes_b.size()), "as many of each");
  const std::vector<int> in_a = valid_axes(call, a, axes_a), in_b = valid_axes(call, b, axes_b);
  if (b.is_ragged()) refuse_rows(call, "b is ragged: its rows would stand behind the axes of a");
  if (a.is_ragged()) {
    std::vector<int64_t> own;
    for (const int axis : in_a) own.push_back(values_axis(call, axis));
    return on_values(a, [&](const Tensor& values) { return tensordot(values, b, own, axes_b); });
  }
  // Labels: axes of a by their number, axes of b behind them, those that meet by a's.
  std::vector<int> labels_a(a.rank()), labels_b(b.rank()), result;
  std::iota(labels_a.begin(), labels_a.end(), 0);
  std::iota(labels_b.begin(), labels_b.end(), a.rank());
  Shape sizes = b.shape();
  std::vector<std::string> names(b.rank());
  for (size_t i = 0; i < in_a.size(); ++i) {
    const Dim size = a.shape()[in_a[i]], other = sizes[in_b[i]];
    if (!proves_equal(size, other).value_or(true))
      call.fail(fmt::format("axis {} of a and axis {} of b differ", in_a[i], in_b[i]), "equal sizes");
    sizes[in_b[i]] = size;
    names[in_b[i]] = fmt::format("what axis {} of a and axis {} of b share", in_a[i], in_b[i]);
    labels_b[in_b[i]] = in_a[i];
  }
  for (int label : labels_a) {
    if (!has_label(labels_b, label)) result.push_back(label);
  }
  for (int label : labels_b) {
    if (!has_label(labels_a, label)) result.push_back(label);
  }
  if (result.size() > static_cast<size_t>(max_rank))
    call.fail(fmt::format("the result would have rank {}", result.size()), fmt::format("a result of at most rank {}", max_rank));
  return arranged(contract({a, labels_a}, {with_sizes(b, sizes, names), labels_b}, result), result);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  const NamedCall call("tensordot", a, b);
  if (axes < 0 || axes > a.rank() || axes > b.rank())
    call.fail(fmt::format("cannot sum over {} axes", axes), fmt::format("between 0 and {}", std::min(a.rank(), b.rank())));
  std::vector<int64_t> last(static_cast<size_t>(axes)), first(static_cast<size_t>(axes));
  std::iota(last.begin(), last.end(), a.rank() - axes);
  std::iota(first.begin(), first.end(), 0);
  return tensordot(a, b, last, first);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  const NamedCall call("dot", a, b);
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  if (a.rank() <= 2 && b.rank() <= 2) return matmul(a, b);
  return tensordot(a, b, {-1}, {b.rank() == 1 ? -1 : -2});
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  const NamedCall call("vdot", a, b);
  if (!proves_equal(a.shape().count(), b.shape().count()).value_or(true))
    call.fail("numbers of elements differ", "as many elements in a as in b");
  return tensordot(flat(a), flat(b), 1);
}

}  // namespace anyshape
