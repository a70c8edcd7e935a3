// Pooling against golden numbers of Keras, and what no reference is needed for: who has the gradient, NaN, windows beside the image.
#include "support/golden.h"
#include "support/golden_values.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using support::GoldenCase;
using support::Json;

std::optional<PerAxis> numbers_of(const GoldenCase& golden, const char* name) {
  const Json* const found = golden.config.find(name);
  if (found == nullptr) return std::nullopt;
  return found->is_array() ? PerAxis(found->integers()) : PerAxis(found->integer());
}

TEST(Pooling, agrees_with_keras_in_results_and_gradients) {
  int cases = 0;
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.group != "conv" || golden.op.find("Pooling") == std::string::npos || golden.op.starts_with("Global")) continue;
    ++cases;
    SCOPED_TRACE(golden.name);
    const Json* const padding = golden.config.find("padding");
    const PoolOptions options{.strides = numbers_of(golden, "strides"), .padding = padding == nullptr ? "valid" : padding->string()};
    const Tensor x = test::to_tensor(golden.inputs["x"]);
    GradientTape tape;
    tape.watch(x);
    const PerAxis window = *numbers_of(golden, "pool_size");
    const Tensor y = golden.op.starts_with("Max") ? max_pool(x, window, options) : average_pool(x, window, options);
    EXPECT_EQ(support::difference(test::to_golden(y), golden.outputs["0"], golden.rtol, golden.atol), "");
    const Tensor dx = tape.gradient(sum(y * test::to_tensor(golden.upstream["0"])), x);
    EXPECT_EQ(support::difference(test::to_golden(dx), golden.gradients["x"], golden.rtol, golden.atol), "");
  }
  EXPECT_EQ(cases, 10);
}

std::vector<float> gradient_of(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(sum(f(x)), x).to_vector<float>();
}

TEST(Pooling, of_equal_ones_the_first_has_the_gradient) {
  const Tensor x = tensor(std::vector<float>{2, 2, 1, 2}, {1, 4, 1});
  EXPECT_EQ(gradient_of(x, [](const Tensor& in) { return max_pool(in, 4); }), (std::vector<float>{1, 0, 0, 0}));
  const float low = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(gradient_of(full({1, 3, 1}, low), [](const Tensor& in) { return max_pool(in, 3); }), (std::vector<float>{1, 0, 0}));
}

TEST(Pooling, a_nan_is_the_greatest) {
  const float nan = std::nanf("");
  const Tensor x = tensor(std::vector<float>{1, nan, 3, nan, 2, 1}, {1, 6, 1});
  const std::vector<float> y = max_pool(x, 3).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(gradient_of(x, [](const Tensor& in) { return max_pool(in, 3); }), (std::vector<float>{0, 1, 0, 1, 0, 0}));
}

TEST(Pooling, of_a_window_beside_the_image_nothing_is_the_greatest_and_no_mean_is_there) {
  const Tensor x = ones({1, 2, 1});
  const PoolOptions far{.strides = 1, .padding = 2};
  EXPECT_EQ(max_pool(x, 2, far).to_vector<float>()[0], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(average_pool(x, 2, far).to_vector<float>()[0]));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& in) { return max_pool(in, 2, far); }), (std::vector<float>{2, 1}));
}

TEST(Pooling, adaptive_windows_overlap_where_sizes_do_not_divide) {
  const Tensor x = tensor(std::vector<float>{0, 1, 2, 3, 4}, {1, 5, 1});
  EXPECT_EQ(adaptive_average_pool(x, 3).to_vector<float>(), (std::vector<float>{0.5, 2, 3.5}));
  EXPECT_EQ(adaptive_max_pool(x, 3).to_vector<float>(), (std::vector<float>{1, 3, 4}));
  EXPECT_EQ(adaptive_average_pool(x, 7).to_vector<float>(), (std::vector<float>{0, 0.5, 1.5, 2, 2.5, 3.5, 4}));
}

TEST(Pooling, one_trace_serves_every_size) {
  auto both = function([](Tensor x) { return max_pool(x, 3, {.strides = 2, .padding = "same"}) + average_pool(x, 2, {.padding = "same"}); },
                       {.name = "both", .signature = {spec(f32, {dim("n"), dim("h"), dim("w"), dim("c")}, "x")}});
  for (int64_t size = 0; size < 20; ++size) {
    const Tensor x = random::normal({size % 4, size, 19 - size, size % 5 + 1});
    const Tensor y = max_pool(x, 3, {.strides = 2, .padding = "same"}) + average_pool(x, 2, {.padding = "same"});
    EXPECT_TRUE(all_equal(both(x), y)) << size;
  }
  EXPECT_EQ(both.stats().traces, 1);
  EXPECT_EQ(both.stats().compiles, 1);
}

}  // namespace
}  // namespace anyshape
