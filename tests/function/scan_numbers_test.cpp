// Loops with their sizes as numbers: the bits of the same loop for any size, with batches as large as other axes, on any number of threads.
#include "base/switches.h"
#include "function/numbers.h"
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>

namespace anyshape::test {
namespace {

constexpr int64_t units = 8;

using Step = std::function<std::pair<Tensor, Tensor>(const Tensor& h, const Tensor& x, const Tensor& weight, const Tensor& beside)>;

// The weight is [units, 4 units]: rows may be as many as the one or the other. `beside` has a row per row.
std::pair<Tensor, Tensor> gated(const Tensor& h, const Tensor& x, const Tensor& weight, const Tensor& beside) {
  const std::vector<Tensor> gate = split(x + matmul(h, weight), 4, {.axis = 1});
  const Tensor next = sigmoid(gate[0]) * h + sigmoid(gate[1]) * tanh(gate[2]) + beside * zeros_like(h);
  return {next, concat({gate[3], softmax(next)}, {.axis = 1}) * sum(beside, {.axes = {1}, .keep_dims = true})};
}

// Rows meet: along columns as many as there are rows.
std::pair<Tensor, Tensor> meeting(const Tensor& h, const Tensor& x, const Tensor& weight, const Tensor& beside) {
  const Tensor all = tanh(x + matmul(h, weight));
  const Tensor next = slice(all, {{}, {.end = units}}) * 0.5 + flip(h, {0}) * beside + sum(beside, {.axes = {0}}) * 0.1;
  return {next, all};
}

std::vector<Tensor> values_and_gradients(const Step& step, const Tensor& xs, const Tensor& h, const Tensor& weight, const Tensor& beside) {
  GradientTape tape;
  const std::vector<Tensor> sources = {xs, h, weight, beside};
  for (const Tensor& each : sources) tape.watch(each);
  const auto [last, all] = scan([&](const Tensor& carry, const Tensor& x) { return step(carry, x, weight, beside); }, h, xs);
  std::vector<Tensor> results = tape.gradient(sum(sin(all)) + sum(last * last), sources, {.unreached = Unreached::Zeros});
  results.insert(results.end(), {last, all});
  return results;
}

auto traced(const Step& step, Shapes shapes) {
  return function([=](Tensor xs, Tensor h, Tensor weight, Tensor beside) { return values_and_gradients(step, xs, h, weight, beside); },
                  {.name = "loop", .shapes = shapes, .retrace = Retrace::Allow});
}

TEST(ScanNumbers, have_the_bits_of_any_size_on_any_number_of_threads) {
  const ScopedWithout without("expand_products");  // products of one row add up in another order
  for (const Step& step : {Step(gated), Step(meeting)}) {
    auto exact = traced(step, Shapes::Exact), symbolic = traced(step, Shapes::Symbolic);
    for (const int64_t rows : {units, 4 * units, int64_t{45}, int64_t{1}, int64_t{0}}) {
      const Tensor xs = numbers({3, rows, 4 * units}, 0.7, f32), h = numbers({rows, units}, 0.3, f32),
                   weight = numbers({units, 4 * units}, 1.1, f32), beside = numbers({rows, units}, 0.4, f32);
      const std::vector<Tensor> eager = values_and_gradients(step, xs, h, weight, beside), any = symbolic(xs, h, weight, beside);
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        const std::vector<Tensor> got = exact(xs, h, weight, beside);
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_TRUE(all_equal(got[i], any[i])) << "result " << i << ": " << rows << " rows on " << threads << " threads";
          EXPECT_TRUE(all_close(got[i], eager[i], {.relative = 1e-4, .absolute = 1e-4})) << "result " << i << ": " << rows << " rows";
        }
      }
    }
  }
}

}  // namespace
}  // namespace anyshape::test
