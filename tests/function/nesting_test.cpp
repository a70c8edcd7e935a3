// Functions inside functions, gradients of functions, functions of gradients; recursion ends with an error.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor cube(const Tensor& x) { return x * x * x; }

TEST(Nesting, a_function_in_a_function_is_part_of_its_trace) {
  const Variable calls(Tensor(0.0f));
  auto inner = function(
      [&](Tensor x, float scale) {
        calls.assign_add(1.0f);
        return x * scale;
      },
      {.name = "inner"});
  auto middle = function([&](Tensor x) { return inner(x, 2.0f) + inner(x, 3.0f); }, {.name = "middle"});
  auto outer = function([&](Tensor x) { return sum(middle(x)); }, {.name = "outer"});
  EXPECT_EQ(outer(ones({3})).item<float>(), 15);
  EXPECT_EQ(outer(ones({2})).item<float>(), 10);
  EXPECT_EQ(calls.read().item<float>(), 4) << "what the inner ones assign is committed by the outer one";
  EXPECT_EQ(outer.stats().traces, 1);
  EXPECT_EQ(middle.stats().traces + inner.stats().traces, 0);
  EXPECT_EQ(inner(ones({2}), 2.0f).to_vector<float>(), (std::vector<float>{2, 2})) << "and they are functions still";
}

TEST(Nesting, gradient_of_a_function) {
  auto total = function([](Tensor x) { return sum(cube(x)); }, {.name = "total"});
  const Tensor x = tensor({1.f, 2.f, -3.f});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(total(x), x).to_vector<float>(), (std::vector<float>{3, 12, 27}));
}

TEST(Nesting, function_of_a_gradient_of_a_function) {
  auto total = function([](Tensor x) { return sum(cube(x)); }, {.name = "total"});
  auto slope = function(
      [&](Tensor x) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(total(x), x);
      },
      {.name = "slope"});
  EXPECT_EQ(slope(tensor({1.f, 2.f, -3.f})).to_vector<float>(), (std::vector<float>{3, 12, 27}));
  EXPECT_EQ(slope(tensor({4.f})).to_vector<float>(), (std::vector<float>{48}));
  EXPECT_EQ(slope.stats().traces, 1);
}

TEST(Nesting, second_order_in_every_way) {
  const Tensor x = tensor({1.f, 2.f, -3.f});
  const std::vector<float> expected{6, 12, -18};
  auto slope = function(
      [](Tensor each) {
        GradientTape tape;
        tape.watch(each);
        return tape.gradient(sum(cube(each)), each);
      },
      {.name = "slope"});
  // The gradient of a function that is a gradient, eagerly.
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(sum(slope(x)), x).to_vector<float>(), expected);
  // Both in one trace, the first through a function.
  auto curvature = function(
      [&](Tensor each) {
        GradientTape outer;
        outer.watch(each);
        return outer.gradient(sum(slope(each)), each);
      },
      {.name = "curvature"});
  EXPECT_EQ(curvature(x).to_vector<float>(), expected);
  EXPECT_EQ(curvature(ones({2})).to_vector<float>(), (std::vector<float>{6, 6}));
  EXPECT_EQ(curvature.stats().traces, 1);
}

TEST(Nesting, recursion_is_an_error_and_leaves_nothing_behind) {
  std::function<Tensor(Tensor)> again;
  bool recurse = true;
  auto self = function([&](Tensor x) { return recurse ? again(x) + 1.0f : x; }, {.name = "self"});
  again = [&](const Tensor& x) { return self(x); };
  EXPECT_EQ(
      text_of<TraceError>([&] { self(ones({2})); }),
      "function \"self\": it calls itself; expected a graph with an end. Repeat with a loop in C++ or with as::while_loop or as::scan, or "
      "let a plain C++ function call itself.");
  EXPECT_EQ(self.stats().traces, 0);
  // Through another function, and followed by a tape, it is the same.
  auto other = function([&](Tensor x) { return self(x); }, {.name = "other"});
  again = [&](const Tensor& x) { return other(x); };
  EXPECT_THROW(other(ones({2})), TraceError);
  {
    GradientTape tape;
    EXPECT_THROW(other(ones({2})), TraceError);
  }
  recurse = false;
  EXPECT_EQ(self(ones({2})).to_vector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace anyshape::test
