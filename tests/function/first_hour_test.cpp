// What people run into in their first hour: variables that share a tensor, functions under tapes, host numbers, names, guards.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <thread>

namespace anyshape::test {
namespace {

using Floats = std::vector<float>;

TEST(FirstHour, a_tape_follows_a_function_called_under_it) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  const Variable v(tensor({2.f, 3.f}));
  GradientTape tape;
  const Tensor y = sum(square(v) + v);
  EXPECT_EQ(tape.gradient(y, v).to_vector<float>(), (Floats{5, 7}));
}

TEST(FirstHour, variables_made_from_one_tensor_have_their_own_gradients) {
  const Tensor start = zeros({2});
  const Variable a(start), b(start);
  b.assign(a);
  GradientTape tape;
  const std::vector<Tensor> gradients = tape.gradient(sum(a * 2.0f + b * 3.0f), {a, b});
  EXPECT_EQ(gradients[0].to_vector<float>(), (Floats{2, 2}));
  EXPECT_EQ(gradients[1].to_vector<float>(), (Floats{3, 3}));
}

TEST(FirstHour, assigning_under_a_tape_starts_a_new_value) {
  const Variable v(tensor({1.f}));
  auto step = [&] {
    GradientTape tape;
    v.assign(v * 2.0f);
    return tape.gradient(sum(v * 3.0f), v);
  };
  EXPECT_EQ(step().to_vector<float>(), Floats{3});
  auto traced = function([&](Tensor x) { return step() + x * 0.0f; }, {.name = "traced"});
  EXPECT_EQ(traced(zeros({1})).to_vector<float>(), Floats{3});
  EXPECT_EQ(v.read().to_vector<float>(), Floats{4});
}

TEST(FirstHour, a_host_number_takes_the_variables_dtype) {
  const Variable count(tensor({7}), {.name = "count"}), weight(zeros({}));
  weight.assign(2);
  EXPECT_EQ(weight.read().item<float>(), 2);
  EXPECT_EQ(weight.read().dtype(), f32);
  EXPECT_NE(text_of<DtypeError>([&] { count.assign(zeros({1})); }).find("variable \"count\" is i32 but the value is f32"),
            std::string::npos);
}

TEST(FirstHour, host_numbers_keep_their_digits_and_never_wrap) {
  EXPECT_EQ((tensor({1.0}) * 0.1).item<double>(), 0.1);
  EXPECT_EQ(cast(Tensor(0.1), f64).item<double>(), 0.1);
  EXPECT_NE(text_of<DtypeError>([] { tensor({1}) + 5'000'000'000; }).find("the host number 5000000000 does not fit i32"),
            std::string::npos);
}

TEST(FirstHour, sizes_without_a_name_do_not_meet_named_ones) {
  auto both = function([](Tensor x, Tensor y) { return std::tuple(arange(x.shape()[0]), arange(y.shape()[0])); },
                       {.name = "both", .signature = {spec(f32, {dynamic}), spec(f32, {dim("n0")})}});
  const auto [first, second] = both(zeros({2}), zeros({5}));
  EXPECT_EQ(first.shape(), (Shape{2}));
  EXPECT_EQ(second.shape(), (Shape{5}));
}

TEST(FirstHour, one_name_is_one_size_inside_expressions_too) {
  auto twice = function([](Tensor a, Tensor b) { return sum(a) + sum(b); },
                        {.name = "twice", .signature = {spec(f32, {dim("n")}), spec(f32, {dim("n") * 2})}});
  EXPECT_EQ(twice(ones({3}), ones({6})).item<float>(), 9);
  EXPECT_THROW(twice(ones({3}), ones({5})), SignatureError);
}

TEST(FirstHour, another_variable_as_argument_is_another_trace) {
  auto scaled = function([](Tensor x, Variable v) { return v.trainable() ? x : x * 0.0f; }, {.name = "scaled", .retrace = Retrace::Allow});
  for (int i = 0; i < 20; ++i) {
    const bool trainable = i % 2 == 0;
    EXPECT_EQ(scaled(ones({1}), Variable(zeros({1}), {.trainable = trainable})).item<float>(), trainable ? 1 : 0);
  }
}

TEST(FirstHour, sizes_behind_a_comparison_are_not_asked_for_where_it_fails) {
  auto share = function(
      [](Tensor x, Tensor y) {
        const Dim n = x.shape()[0], m = y.shape()[0];
        if (n == 0) return zeros({0});
        return slice(y, {{0, m / n}});
      },
      {.name = "share"});
  EXPECT_EQ(share(zeros({2}), zeros({6})).shape(), (Shape{3}));
  EXPECT_EQ(share(zeros({0}), zeros({6})).shape(), (Shape{0}));
  EXPECT_EQ(share.stats().traces, 2);
}

TEST(FirstHour, a_tape_may_end_on_another_thread) {
  auto tape = std::make_unique<GradientTape>();
  std::thread([&] { tape.reset(); }).join();
  EXPECT_EQ((ones({1}) + 1.0f).item<float>(), 2);
}

TEST(FirstHour, a_tensor_that_left_its_trace_is_no_value_for_a_variable) {
  Tensor leaked;
  auto leak = function([&](Tensor x) { return leaked = x + 1.0f; }, {.name = "leak"});
  leak(ones({2}));
  const Variable v(ones({2}));
  EXPECT_NE(text_of<TraceError>([&] { v.assign(leaked); }).find("assign: the tensor f32[a0] left its trace"), std::string::npos);
  EXPECT_THROW(Variable{leaked}, TraceError);
}

TEST(FirstHour, dtype_policies_need_a_signature) {
  EXPECT_NE(text_of<ArgumentError>([] {
              function([](Tensor x) { return x; }, {.name = "f", .dtypes = DtypePolicy::Cast});
            }).find("function \"f\": DtypePolicy::Cast and Reject need a signature"),
            std::string::npos);
}

TEST(FirstHour, the_report_lists_what_a_trace_holds) {
  const Variable weight(ones({3}), {.name = "weight"});
  const Tensor table = ones({2, 3});
  auto product = function([&](Tensor x) { return x * weight + sum(table, {.axes = {0}}); }, {.name = "product"});
  product(ones({5, 3}));
  EXPECT_EQ(product.traces()[0].captured, (std::vector<std::string>{"f32[2, 3]", "weight: f32[3]"}));
  EXPECT_NE(product.report().find("  holds       f32[2, 3], weight: f32[3]\n"), std::string::npos) << product.report();
}

TEST(FirstHour, reductions_of_unknown_broadcasts_are_right_at_every_size) {
  auto total = function([](Tensor x, Tensor y) { return std::tuple(sum(x * y), sum(x + y, {.axes = {1}}), max(x - y, {.axes = {0}})); },
                        {.name = "total"});
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{{{5, 37}, {5, 37}},
                                                                        {{5, 37}, {1, 37}},
                                                                        {{5, 37}, {5, 1}},
                                                                        {{1, 1}, {4, 70}},
                                                                        {{3, 1}, {1, 19}},
                                                                        {{1, 1}, {1, 1}},
                                                                        {{2, 0}, {2, 1}}}) {
    const Tensor x = random::normal(left), y = random::normal(right);
    const auto [product, rows, columns] = total(x, y);
    EXPECT_TRUE(all_close(product, sum(x * y), {.absolute = 1e-4})) << to_string(left) << to_string(right);
    EXPECT_TRUE(all_close(rows, sum(x + y, {.axes = {1}}), {.absolute = 1e-4})) << to_string(left) << to_string(right);
    EXPECT_TRUE(all_close(columns, max(x - y, {.axes = {0}}))) << to_string(left) << to_string(right);
  }
  EXPECT_EQ(total.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape::test
