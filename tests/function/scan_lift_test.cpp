// What leaves the loop: products of the inputs before it, sums over the steps after it, for any cell.
#include "function/numbers.h"
#include "graph/text.h"
#include "ops/all_ops.h"
#include "ops/control/scan.h"
#include "passes/run_passes.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <sstream>

namespace anyshape::test {
namespace {

// A cell that does everything inside: x [batch, 3], h [batch, 4].
struct Cell {
  Tensor w = numbers({3, 4}, 0.7), u = numbers({4, 4}, 1.1), b = numbers({4}, 0.5), s = numbers({3}, 0.2);
  Tensor step(const Tensor& h, const Tensor& x) const { return tanh(matmul(x * s + 1.0, w) + b + matmul(h, u)); }
  Tensor dense(const Tensor& xs, const Tensor& h) const {
    return scan(
               [&](const Tensor& carry, const Tensor& x) {
                 const Tensor next = step(carry, x);
                 return std::pair(next, next);
               },
               h, xs)
        .second;
  }
  Tensor packed(const Tensor& counts, const Tensor& xs, const Tensor& h) const {
    return scan_packed(counts, {h}, {xs},
                       [&](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
                         const Tensor next = step(carried[0], slices[0]);
                         return {{next, next}};
                       })
        .tensors[1];
  }
};

template <class Run>
std::vector<Tensor> gradients(const Cell& cell, const Tensor& xs, const Tensor& h, const Run& run) {
  GradientTape tape;
  const std::vector<Tensor> sources = {xs, h, cell.w, cell.u, cell.b, cell.s};
  for (const Tensor& each : sources) tape.watch(each);
  return tape.gradient(sum(sin(run(cell))), sources, {.unreached = Unreached::Zeros});
}

// Nodes of an op inside loops and outside of them, after the passes.
std::pair<int, int> count(const std::string& text, const std::string& op) {
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  passes::run_passes(*graph, decisions);
  std::istringstream lines(graph::print(*graph));
  std::pair<int, int> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" = " + op + "(") != std::string::npos) ++(line.starts_with("      ") ? found.first : found.second);
  }
  return found;
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-12})) << i;
}

TEST(ScanLift, products_of_inputs_are_made_before_the_loop_and_weight_gradients_after_it) {
  const Cell given;
  const auto dense = [](const Tensor& xs, const Tensor& h) { return [=](const Cell& cell) { return cell.dense(xs, h); }; };
  auto traced =
      function([&](Tensor xs, Tensor h, Tensor w, Tensor u, Tensor b, Tensor s) { return gradients({w, u, b, s}, xs, h, dense(xs, h)); });
  for (const int64_t time : {5, 0, 1, 9}) {
    const Tensor xs = numbers({time, 2, 3}, 0.3), h = numbers({2, 4}, 0.9);
    expect_close(traced(xs, h, given.w, given.u, given.b, given.s), gradients(given, xs, h, dense(xs, h)));
  }
  EXPECT_EQ(traced.stats().traces, 1);
  const std::string text = traced.traces()[0].graph;
  EXPECT_EQ(count(text, "matmul"), std::pair(2, 4)) << "h u and its pull back; x w before, and the gradients of x, w and u after";
}

TEST(ScanLift, packed_loops_do_the_same) {
  const Cell given;
  const auto packed = [](const Tensor& counts, const Tensor& xs, const Tensor& h) {
    return [=](const Cell& cell) { return cell.packed(counts, xs, h); };
  };
  auto traced = function([&](Tensor counts, Tensor xs, Tensor h, Tensor w, Tensor u, Tensor b, Tensor s) {
    return gradients({w, u, b, s}, xs, h, packed(counts, xs, h));
  });
  const Tensor counts = tensor({4, 2, 2, 1}), xs = numbers({9, 3}, 0.3), h = numbers({4, 4}, 0.9);
  expect_close(traced(counts, xs, h, given.w, given.u, given.b, given.s), gradients(given, xs, h, packed(counts, xs, h)));
  EXPECT_EQ(count(traced.traces()[0].graph, "matmul"), std::pair(2, 4));
}

// A captured scalar, a captured matrix of the batch's shape, one that is used twice, a captured one that is used through another op.
TEST(ScanLift, captures_of_every_kind_have_their_gradients) {
  const auto run = [](const Tensor& xs, const Tensor& h, const Tensor& a, const Tensor& m, const Tensor& w) -> std::vector<Tensor> {
    GradientTape tape;
    const std::vector<Tensor> sources = {xs, h, a, m, w};
    for (const Tensor& each : sources) tape.watch(each);
    const Tensor all = scan(
                           [&](const Tensor& carry, const Tensor& x) {
                             const Tensor next =
                                 tanh(carry * a + m * x + matmul(matmul(x, w), exp(w)) - matmul(carry, w, {.transpose_b = true}));
                             return std::pair(next, next * a);
                           },
                           h, xs)
                           .second;
    return tape.gradient(sum(all * all), sources);
  };
  auto traced = function([&](Tensor xs, Tensor h, Tensor a, Tensor m, Tensor w) { return run(xs, h, a, m, w); });
  const Tensor xs = numbers({4, 2, 3}, 0.3), h = numbers({2, 3}, 0.9), a = numbers({}, 1.0), m = numbers({2, 3}, 0.6),
               w = numbers({3, 3}, 0.8);
  expect_close(traced(xs, h, a, m, w), run(xs, h, a, m, w));
}

}  // namespace
}  // namespace anyshape::test
