// Variables and traces: made at the first call only, committed all or none, and made outside a trace that is in progress.
#include "graph/outside_trace.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

TEST(Variables, one_that_the_first_call_makes_and_keeps_is_lifted_out_of_the_trace) {
  std::optional<Variable> count;
  auto step = function(
      [&](Tensor x) {
        if (!count) count.emplace(full({3}, 2.0f) * 5.0f, VariableOptions{.name = "count"});
        count->assign_add(ones({3}));
        return count->read() + sum(x);
      },
      {.name = "step"});
  EXPECT_EQ(step(zeros({1})).to_vector<float>(), (std::vector<float>{11, 11, 11}));
  EXPECT_EQ(step(zeros({4})).to_vector<float>(), (std::vector<float>{12, 12, 12}));
  EXPECT_EQ(count->read().to_vector<float>(), (std::vector<float>{12, 12, 12}));
  EXPECT_EQ(count->name(), "count");
  EXPECT_EQ(step.stats().traces, 1);
  step(zeros({1}, {.dtype = f64}));
  EXPECT_EQ(count->read().to_vector<float>(), (std::vector<float>{13, 13, 13})) << "a later trace finds it";
}

TEST(Variables, initial_values_may_be_random_and_read_captures_and_variables) {
  const Variable base(full({2}, 3.0f));
  const Tensor shift = tensor({1.f, 2.f});
  std::optional<Variable> made, noise;
  auto step = function(
      [&](Tensor x) {
        if (!made) made.emplace(base.read() + shift);
        if (!noise) noise.emplace(random::normal({1000}));
        return sum(x) + sum(made->read());
      },
      {.name = "step"});
  EXPECT_EQ(step(ones({2})).item<float>(), 11);
  EXPECT_EQ(made->read().to_vector<float>(), (std::vector<float>{4, 5}));
  EXPECT_NEAR(anyshape::std(noise->read()).item<float>(), 1, 0.1);
}

TEST(Variables, one_made_after_the_first_trace_is_an_error) {
  std::vector<Variable> made;
  bool makes = false;
  auto step = function(
      [&](Tensor x) {
        if (makes) made.emplace_back(zeros({2}), VariableOptions{.name = "late"});
        return x;
      },
      {.name = "step"});
  step(ones({2}));
  makes = true;
  EXPECT_EQ(
      text_of<TraceError>([&] { step(ones({2, 2})); }),
      "function \"step\": variable \"late\" is created after the function's first trace; expected variables to be made at the first call "
      "only. Make it outside and capture it, or keep it in a std::optional<Variable> that is filled at the first call.");
  EXPECT_EQ(step.stats().traces, 1);
}

TEST(Variables, one_that_is_not_kept_is_an_error) {
  auto step = function(
      [](Tensor x) {
        const Variable local(zeros({2}), {.name = "local"});
        local.assign_add(ones({2}));
        return local.read() + x;
      },
      {.name = "step"});
  EXPECT_NE(text_of<TraceError>([&] { step(ones({2})); }).find("variable \"local\" is created after the function's first trace"),
            std::string::npos);
  EXPECT_EQ(step.stats().traces, 0);
}

TEST(Variables, an_initial_value_that_depends_on_the_call_is_an_error) {
  std::optional<Variable> made;
  auto of_values = function(
      [&](Tensor x) {
        if (!made) made.emplace(x * 2.0f);
        return x;
      },
      {.name = "of_values"});
  EXPECT_NE(text_of<TraceError>([&] { of_values(ones({2})); }).find("the initial value f32[a0] of a variable depends on argument 0"),
            std::string::npos)
      << text_of<TraceError>([&] { of_values(ones({2})); });
  auto of_sizes = function(
      [&](Tensor x) {
        if (!made) made.emplace(zeros({x.shape()[0]}));
        return x;
      },
      {.name = "of_sizes"});
  EXPECT_NE(text_of<TraceError>([&] { of_sizes(ones({2})); }).find("depends on the size a0"), std::string::npos)
      << text_of<TraceError>([&] { of_sizes(ones({2})); });
  auto specialized = function(
      [&](Tensor x) {
        if (!made) made.emplace(zeros({x.shape()[0].specialize()}));
        return x + made->read();
      },
      {.name = "specialized"});
  EXPECT_EQ(specialized(ones({2})).to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Variables, eager_state_can_be_made_while_tracing) {
  std::vector<Variable> slots;
  auto slot_of = [&](const Variable& variable) {
    const OutsideTrace outside;
    slots.emplace_back(zeros(variable.shape()) + 1.0f);
    EXPECT_EQ(slots.back().read().to_vector<float>()[0], 1);
    return slots.back();
  };
  const Variable weight(ones({2}));
  auto step = function(
      [&](Tensor x) {
        const Variable slot = slot_of(weight);
        slot.assign(slot.read() * 2.0f);
        return x + slot.read();
      },
      {.name = "step", .retrace = Retrace::Allow, .check_frozen = false});
  EXPECT_EQ(step(zeros({2})).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(step(zeros({2})).to_vector<float>(), (std::vector<float>{4, 4}));
  EXPECT_EQ(step(zeros({1, 2})).to_vector<float>(), (std::vector<float>{2, 2})) << "in any trace";
  EXPECT_EQ(slots.size(), 2U);
}

TEST(Variables, a_compiled_function_can_run_while_another_is_traced) {
  auto inner = function([](Tensor x) { return sum(x); }, {.name = "inner"});
  float frozen = 0;
  auto outer = function(
      [&](Tensor x) {
        {
          const OutsideTrace outside;
          frozen = inner(ones({5})).item<float>();
        }
        return x * frozen;
      },
      {.name = "outer", .check_frozen = false});
  EXPECT_EQ(outer(ones({1})).item<float>(), 5);
  EXPECT_EQ(inner.stats().calls, 1);
}

TEST(Variables, are_outside_a_trace_that_ended_behind_a_tape_of_its_own) {
  const Variable weight(ones({2}));
  std::optional<GradientTape> kept;
  auto leaves_its_tape = function(
      [&](Tensor x) {
        kept.emplace();
        return x * weight;
      },
      {.name = "leaves_its_tape", .check_frozen = false});
  leaves_its_tape(ones({2}));
  EXPECT_EQ(this_thread.trace(), nullptr);
  EXPECT_EQ((weight + 1.0f).to_vector<float>(), (std::vector<float>{2, 2}));
  weight.assign(zeros({2}));
  EXPECT_EQ(weight.read().to_vector<float>(), (std::vector<float>{0, 0}));
  kept.reset();
  EXPECT_EQ(this_thread.execution, nullptr);
}

}  // namespace
}  // namespace anyshape::test
