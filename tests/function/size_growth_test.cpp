// Sizes stay small expressions where they can: chains of slices with constant bounds, sums of many unrelated shapes. What grows all the same is
// refused with a text that says who computes it, and what helps.
#include <anyshape/anyshape.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace anyshape {
namespace {

Tensor numbers(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7) % 11) - 3.0F);
  return tensor(values, {count});
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(to_string(a.shape()), to_string(b.shape()));
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

// One trace without checks serves every length, those that leave nothing included.
void expect_one_trace(const std::function<Tensor(Tensor)>& body, const std::string& result) {
  auto f = function(body, {.name = "chain"});
  for (const int64_t count : {0, 1, 2, 7, 15, 16, 17, 39, 40, 41, 100}) expect_equal(f(numbers(count)), body(numbers(count)));
  const Ledger ledger = f.ledger();
  ASSERT_EQ(ledger.traces.size(), 1U);
  EXPECT_EQ(to_string(ledger.traces[0].outputs[0]), result);
  EXPECT_TRUE(ledger.traces[0].checks.empty()) << ledger.traces[0].checks[0];
}

TEST(SizeGrowth, slices_with_constant_bounds_one_after_the_other) {
  expect_one_trace(
      [](Tensor x) {
        for (int i = 0; i < 20; ++i) x = slice(x, {{1, -1}});
        return x;
      },
      "f32[max(a0 - 40, 0)]");
  expect_one_trace(
      [](Tensor x) {
        for (int i = 0; i < 16; ++i) x = slice(x, {{1, {}}});
        return x;
      },
      "f32[max(a0 - 16, 0)]");
}

TEST(SizeGrowth, a_stencil_many_times) {
  const auto stencil = [](Tensor x) {
    for (int i = 0; i < 8; ++i) x = slice(x, {{0, -2}}) - 2.0F * slice(x, {{1, -1}}) + slice(x, {{2, {}}});
    return x;
  };
  expect_one_trace(stencil, "f32[max(a0 - 16, 0)]");
}

TEST(SizeGrowth, a_stencil_has_a_gradient) {
  const auto gradient = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = slice(y, {{0, -2}}) - 2.0F * slice(y, {{1, -1}}) + slice(y, {{2, {}}});
    return tape.gradient(sum(y * y), x);
  };
  expect_one_trace(gradient, "f32[a0]");
}

TEST(SizeGrowth, a_hundred_tensors_of_unrelated_shapes_are_added) {
  auto add_all = function(
      [](std::vector<Tensor> tensors) {
        Tensor total = tensors[0];
        for (size_t i = 1; i < tensors.size(); ++i) total = total + tensors[i];
        return total;
      },
      {.name = "add_all"});
  for (const int64_t wide : {0, 33, 99}) {
    std::vector<Tensor> tensors;
    for (int64_t i = 0; i < 100; ++i) tensors.push_back(full({i == wide ? 5 : 1}, static_cast<float>(i)));
    EXPECT_EQ(add_all(tensors).to_vector<float>(), std::vector<float>(5, 4950.0F));
  }
  EXPECT_EQ(add_all.stats().traces, 1);
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(SizeGrowth, what_grows_without_end_is_refused_with_op_function_and_cure) {
  auto halves = function(
      [](Tensor x) {
        for (int i = 0; i < 40; ++i) x = concat({slice(x, {{0, {}, 2}}), slice(x, {{0, {}, 3}})}, {.axis = 0});
        return x;
      },
      {.name = "halves"});
  const std::string text = refusal_of([&] { halves(numbers(50)); });
  EXPECT_TRUE(text.starts_with("slice: size expression is too large") || text.starts_with("concat: size expression is too large")) << text;
  EXPECT_NE(text.find("In function \"halves\"."), std::string::npos) << text;
  EXPECT_NE(text.find("as::dim(\"n\", {.min = "), std::string::npos) << text;
}

}  // namespace
}  // namespace anyshape
