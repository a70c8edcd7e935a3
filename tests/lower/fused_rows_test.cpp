// Kernels over rows give the bits of kernels by themselves.
#include "base/switches.h"
#include "function/compile.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

namespace anyshape::test {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const auto without_nan = [](const Tensor& x) { return where(equal(x, x), x, 0); };
  return all_equal(equal(a, a), equal(b, b)) && all_equal(without_nan(a), without_nan(b));
}

// One callable fused, by kernels of their own, and fused by the interpreter: the same bits.
using Body = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

void expect_same_bits(const char* name, const Body& body, const std::vector<std::vector<Tensor>>& calls,
                      const std::vector<TensorSpec>& signature = {}) {
  const auto make = [&] {
    return function([&](std::vector<Tensor> inputs) { return body(inputs); },
                    {.name = name, .signature = signature, .check_frozen = false});
  };
  auto fused = make(), apart = make(), interpreted = make();
  for (const std::vector<Tensor>& inputs : calls) {
    const std::vector<Tensor> found = fused(inputs);
    const std::vector<Tensor> wanted = [&] {
      const ScopedWithout without("fuse_rows");
      return apart(inputs);
    }();
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(same_bits(found[i], wanted[i]))
          << name << " " << to_string(inputs[0].shape()) << ", result " << i << ": " << to_string(max(abs(found[i] - wanted[i])));
    }
    if (inputs[0].shape().count().value() > 20000) continue;  // the interpreter is slow
    const function_detail::ScopedInterpretation interpretation;
    const std::vector<Tensor> slow = interpreted(inputs);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], slow[i])) << name << " interpreted, result " << i;
  }
  EXPECT_EQ(fused.stats().traces, 1) << name;
  EXPECT_EQ(fused.stats().interpreted_groups, 0) << name;
}

std::vector<Tensor> with_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs) {
  GradientTape tape;
  for (const Tensor& input : inputs) tape.watch(input);
  const Tensor y = f(inputs);
  const Tensor loss = sum(y * cos(y));
  std::vector<Tensor> results = tape.gradient(loss, inputs);
  results.push_back(y);
  return results;
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  const Tensor centred = x - mean(x, {.axes = {-1}, .keep_dims = true});
  const Tensor variance = mean(square(centred), {.axes = {-1}, .keep_dims = true});
  return centred * rsqrt(variance + 1e-5) * gamma + beta;
}

const std::vector<std::pair<int64_t, int64_t>> sizes = {{0, 5},     {5, 0},     {1, 1},     {3, 1},     {1, 15},   {7, 16},
                                                        {4, 17},    {33, 64},   {2, 65},    {5, 100},   {300, 70}, {3, 1000},
                                                        {2, 16384}, {1, 16385}, {3, 40000}, {40, 33000}};

Tensor numbers(Shape shape, Dtype dtype, double scale) { return cast(random::normal(shape) * scale, dtype); }

std::vector<std::vector<Tensor>> calls_with(Dtype dtype, const std::function<std::vector<Tensor>(int64_t rows, int64_t length)>& make) {
  std::vector<std::vector<Tensor>> calls;
  for (const auto& [rows, length] : sizes) {
    calls.push_back({numbers({rows, length}, dtype, 2)});
    for (Tensor& more : make(rows, length)) calls.back().push_back(cast(more, dtype));
  }
  return calls;
}

std::vector<Tensor> only_x(int64_t /*rows*/, int64_t /*length*/) { return {}; }

TEST(FusedRows, softmax_and_its_kin_have_the_same_bits) {
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> functions = {
      {"softmax", [](const Tensor& x) { return softmax(x); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, {.axes = {-1}}); }},
      {"var", [](const Tensor& x) { return var(x, {.axes = {-1}}); }},
      {"std", [](const Tensor& x) { return std(x, {.axes = {-1}, .keep_dims = true}); }},
  };
  for (const auto& [name, f] : functions) {
    const auto forward = [&](const std::vector<Tensor>& t) { return std::vector<Tensor>{f(t[0])}; };
    const auto backward = [&](const std::vector<Tensor>& t) { return with_gradients([&](const auto& u) { return f(u[0]); }, t); };
    expect_same_bits(name, forward, calls_with(Dtype::f32, only_x));
    expect_same_bits(name, backward, calls_with(Dtype::f32, only_x));
  }
}

// Softmax takes the short way to its exponentials, what is not at most 0 the long one.
TEST(FusedRows, exponentials_of_infinite_and_of_large_differences) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor<float>({{-inf, -inf, -inf}, {1, -inf, 200}, {inf, 1, 2}, {nan, 1, 2}, {-300, 0, 300}});
  const auto softmaxed = function([](Tensor t) { return softmax(t); });
  EXPECT_TRUE(same_bits(softmaxed(x), tensor<float>({{nan, nan, nan}, {0, 0, 1}, {nan, nan, nan}, {nan, nan, nan}, {0, 0, 1}})))
      << to_string(softmaxed(x));
  // The greatest of another row, and that of something else.
  const auto crossed = function([](Tensor t) { return exp(t - max(t, {.axes = {1}})); });
  EXPECT_TRUE(same_bits(crossed(tensor<float>({{0, 0}, {0, 200}})), tensor<float>({{1, 0}, {1, 1}})));
  EXPECT_TRUE(same_bits(crossed(tensor<float>({{0, 0}, {200, 0}})), tensor<float>({{1, 0}, {inf, 0}})));
  const auto other = function([](Tensor t) { return exp(t - max(-t, {.axes = {1}, .keep_dims = true})); });
  EXPECT_TRUE(same_bits(other(tensor<float>({{200, 50}})), tensor<float>({{inf, inf}})));
}

TEST(FusedRows, softmax_of_other_floats_has_the_same_bits) {
  const auto forward = [](const std::vector<Tensor>& t) { return std::vector<Tensor>{softmax(t[0])}; };
  for (const Dtype dtype : {Dtype::f64, Dtype::f16, Dtype::bf16}) expect_same_bits("softmax", forward, calls_with(dtype, only_x));
}

TEST(FusedRows, layer_normalisation_has_the_same_bits) {
  const auto calls = calls_with(
      Dtype::f32, [](int64_t, int64_t length) { return std::vector<Tensor>{random::normal({length}), random::normal({length})}; });
  const auto f = [](const std::vector<Tensor>& t) { return layer_norm(t[0], t[1], t[2]); };
  expect_same_bits("forward", [&](const std::vector<Tensor>& t) { return std::vector<Tensor>{f(t)}; }, calls);
  const Dim rows = dim("rows"), length = dim("length");
  const std::vector<TensorSpec> signature = {spec(f32, {rows, length}), spec(f32, {length}), spec(f32, {length})};
  expect_same_bits("forward", [&](const std::vector<Tensor>& t) { return std::vector<Tensor>{f(t)}; }, calls, signature);
  expect_same_bits("backward", [&](const std::vector<Tensor>& t) { return with_gradients(f, t); }, calls, signature);
}

// Every rest of rows, with sums along columns beside what is written for each row.
TEST(FusedRows, rows_walked_together_have_the_same_bits) {
  std::vector<std::vector<Tensor>> calls;
  for (int64_t rows = 0; rows < 10; ++rows) {
    for (const int64_t length : {1, 5, 16, 63, 64, 65})
      calls.push_back({numbers({rows, length}, f32, 2), random::normal({length}), random::normal({length})});
  }
  for (const auto& [rows, length] : {std::pair<int64_t, int64_t>{3001, 33}, {71, 895}, {71, 896}, {6, 16384}, {6, 16385}})
    calls.push_back({numbers({rows, length}, f32, 2), random::normal({length}), random::normal({length})});
  const Dim rows = dim("rows"), length = dim("length");
  const std::vector<TensorSpec> signature = {spec(f32, {rows, length}), spec(f32, {length}), spec(f32, {length})};
  const auto f = [](const std::vector<Tensor>& t) { return softmax(layer_norm(t[0], t[1], t[2])); };
  const Body body = [&](const std::vector<Tensor>& t) {
    std::vector<Tensor> results = with_gradients(f, t);
    results.push_back(max(t[0], {.axes = {1}}));
    return results;
  };
  expect_same_bits("together", body, calls, signature);
  const auto make = [&] {
    return function([&](std::vector<Tensor> inputs) { return body(inputs); }, {.signature = signature, .check_frozen = false});
  };
  auto together = make(), one_by_one = make();
  for (const std::vector<Tensor>& inputs : calls) {
    const std::vector<Tensor> found = together(inputs);
    const ScopedWithout without("rows_together");
    const std::vector<Tensor> wanted = one_by_one(inputs);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(same_bits(found[i], wanted[i])) << to_string(inputs[0].shape()) << ", result " << i;
  }
}

TEST(FusedRows, operands_of_a_row_of_an_element_and_of_everything) {
  const auto calls = calls_with(Dtype::f32, [](int64_t rows, int64_t length) {
    return std::vector<Tensor>{random::normal({rows, 1}), random::normal({rows}), random::normal({}), random::normal({rows, length})};
  });
  expect_same_bits(
      "operands",
      [](const std::vector<Tensor>& t) {
        const Tensor masked = where(t[4] > 0, t[0] * t[1], t[3]);
        const Tensor total = sum(tanh(masked), {.axes = {1}});
        const Tensor each = (total + t[2]) * t[3];
        const Tensor y = tanh(masked) - reshape(each, {t[0].shape()[0], 1});
        return std::vector<Tensor>{y, each, max(y * t[4], {.axes = {1}}), total};
      },
      calls);
}

TEST(FusedRows, rows_of_several_axes_and_of_several_lengths) {
  std::vector<std::vector<Tensor>> calls;
  for (const auto& [a, b, c, d] :
       std::vector<std::array<int64_t, 4>>{{2, 3, 4, 5}, {1, 1, 1, 1}, {3, 0, 2, 2}, {2, 5, 1, 70}, {4, 1, 9, 1}}) {
    calls.push_back({random::normal({a, b, c, d}), random::normal({a, 1, 1, d}), random::normal({b, 1, 1}), random::normal({c, d})});
  }
  expect_same_bits("last", [](const auto& t) { return std::vector<Tensor>{softmax(t[0] + t[1])}; }, calls);
  expect_same_bits("middle", [](const auto& t) { return std::vector<Tensor>{softmax(t[0] + t[1], {.axis = 1})}; }, calls);
  expect_same_bits("outer_operand", [](const auto& t) { return std::vector<Tensor>{softmax(t[0] * t[2])}; }, calls);
  expect_same_bits(
      "two_axes",
      [](const auto& t) {
        const Tensor centred = t[0] - mean(t[0], {.axes = {2, 3}, .keep_dims = true});
        return std::vector<Tensor>{centred * rsqrt(mean(square(centred), {.axes = {2, 3}, .keep_dims = true}) + 1e-3) * t[3]};
      },
      calls);
  expect_same_bits(
      "two_axes_apart",
      [](const auto& t) {
        const Tensor scaled = t[0] * t[1];
        return std::vector<Tensor>{scaled - sum(scaled, {.axes = {2, 3}, .keep_dims = true})};
      },
      calls);
}

TEST(FusedRows, an_operand_whose_size_is_1_or_the_row) {
  std::vector<std::vector<Tensor>> calls;
  for (const int64_t length : {1, 7, 64}) {
    for (const int64_t other : {int64_t{1}, length}) calls.push_back({random::normal({5, length}), random::normal({other})});
  }
  expect_same_bits("open", [](const auto& t) { return std::vector<Tensor>{softmax(t[0] * t[1])}; }, calls);
}

TEST(FusedRows, strided_arguments) {
  std::vector<std::vector<Tensor>> calls;
  for (const int64_t rows : {1, 5, 40})
    calls.push_back({transpose(random::normal({33, rows}), {1, 0}), slice(random::normal({rows + 2, 40}), {{1, 1 + rows}, {3, 36}})});
  expect_same_bits("strided", [](const auto& t) { return std::vector<Tensor>{softmax(t[0]), softmax(t[0] * t[1])}; }, calls);
}

}  // namespace
}  // namespace anyshape::test
