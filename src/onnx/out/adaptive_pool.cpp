// Adaptive pooling of images of any size: ONNX has none, but which inputs a result takes along an axis can be computed. One axis after the other, since a
// window is a box.
#include "onnx/out/rule.h"

#include <limits>
#include <numeric>

namespace anyshape::onnx::out {
namespace {

// Along an axis of n inputs and m results: [m, n], whether result o takes input i: from floor(o n / m) to ceil((o + 1) n / m).
struct Windows {
  std::string takes, counts;  // [m, n] and [m, 1]
};
Windows windows_along(NodeCall& c, const Dim& inputs, const Dim& results) {
  const auto count_up = [&](const Dim& count) { return c.add("Range", {c.e.integer(0), c.e.size_number(count), c.e.integer(1)}); };
  const std::string n = c.e.size_number(inputs), m = c.e.size_number(results), one = c.e.integer(1);
  const std::string o = c.add("Unsqueeze", {count_up(results), c.e.integers({1})}), i = count_up(inputs);
  const std::string begin = c.add("Div", {c.add("Mul", {o, n}), m});
  const std::string behind = c.add("Add", {c.add("Mul", {c.add("Add", {o, one}), n}), c.e.size_number(results - 1)});
  const std::string end = c.add("Div", {behind, m});
  const std::string takes = c.add("And", {c.add("LessOrEqual", {begin, i}), c.add("Less", {i, end})});
  return {takes, c.cast(c.add("Sub", {end, begin}), c.dtype())};
}

std::vector<int64_t> with_axis_last(int rank, int axis) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return order;
}

}  // namespace

void write_adaptive_pool(NodeCall& c, bool is_max) {
  const std::vector<Dim>& results = c.a.sizes("sizes");
  std::string x = c.in(0);
  for (size_t k = 0; k < results.size(); ++k) {
    const Windows windows = windows_along(c, c.shape(0)[static_cast<int>(k) + 1], results[k]);
    const std::vector<int64_t> order = with_axis_last(c.rank(0), static_cast<int>(k) + 2);  // its own reverse
    x = c.add("Transpose", {x}, {{"perm", order}});
    if (is_max) {
      const std::string spread = c.add("Unsqueeze", {x, c.e.integers({-2})});
      const std::string taken = c.add("Where", {windows.takes, spread, c.number(-std::numeric_limits<double>::infinity())});
      x = c.add("ReduceMax", {taken, c.e.integers({-1})}, {{"keepdims", int64_t{0}}});
    } else {
      const std::string shares = c.add("Div", {c.cast(windows.takes, c.dtype()), windows.counts});
      x = c.add("MatMul", {x, c.add("Transpose", {shares}, {{"perm", std::vector<int64_t>{1, 0}}})});
    }
    x = c.add("Transpose", {x}, {{"perm", order}});
  }
  c.out(x);
}

}  // namespace anyshape::onnx::out
