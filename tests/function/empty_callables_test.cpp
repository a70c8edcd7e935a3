// Callables that are empty are refused where they are given, by name.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using test::text_of;
using OnTensor = std::function<Tensor(Tensor)>;

template <class Body>
void expect_refused(const Body& body, const std::string& text) {
  EXPECT_EQ(text_of<ArgumentError>(body), text);
}

TEST(EmptyCallables, of_function_are_refused_when_it_is_made) {
  expect_refused([] { function(OnTensor(), {.name = "step"}); },
                 "function \"step\": the callable is empty; expected something that can be called.");
  Tensor (*pointer)(Tensor) = nullptr;
  expect_refused([&] { function(pointer); }, "function \"function\": the callable is empty; expected something that can be called.");
}

TEST(EmptyCallables, of_cond_are_refused_whichever_is_chosen) {
  const std::function<Tensor()> one = [] { return Tensor(1.0f); }, none;
  for (const bool holds : {true, false}) {
    expect_refused([&] { cond(Tensor(holds), none, one); },
                   "cond: the first callable, for a condition that holds, is empty; expected something that can be called.");
    expect_refused([&] { cond(Tensor(holds), one, none); },
                   "cond: the second callable, for a condition that does not hold, is empty; expected something that can be called.");
  }
}

TEST(EmptyCallables, of_loops_are_refused) {
  const std::function<std::pair<Tensor, Tensor>(const Tensor&, const Tensor&)> body;
  expect_refused([&] { scan(body, Tensor(0.0f), ones({3})); }, "scan: the body is empty; expected something that can be called.");
  const std::function<std::pair<Tensor, Tensor>(const Tensor&)> alone;
  expect_refused([&] { scan(alone, Tensor(0.0f), {.length = 3}); }, "scan: the body is empty; expected something that can be called.");
  const OnTensor next = [](const Tensor& x) { return x - 1.0f; }, none;
  expect_refused([&] { while_loop(none, next, Tensor(3.0f)); },
                 "while_loop: the condition is empty; expected something that can be called.");
  expect_refused([&] { while_loop(next, none, Tensor(0.0f)); }, "while_loop: the body is empty; expected something that can be called.");
}

TEST(EmptyCallables, of_custom_gradient_are_refused_when_it_is_made) {
  const std::function<Tensor(const CustomGradientCall&)> gradient = [](const CustomGradientCall& call) { return call.output_gradients[0]; };
  expect_refused([&] { custom_gradient(OnTensor(), gradient, {.name = "clipped"}); },
                 "clipped: the forward callable is empty; expected something that can be called.");
  expect_refused([] { custom_gradient([](Tensor x) { return x; }, std::function<Tensor(const CustomGradientCall&)>()); },
                 "custom_gradient: the gradient callable is empty; expected something that can be called.");
}

}  // namespace
}  // namespace anyshape
