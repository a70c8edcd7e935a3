// function(): one trace for any shape, signatures that refuse, checks that explain, a ledger that counts.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

TEST(Function, adds_a_trace_for_another_dtype_and_says_why) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  square(ones({2, 3}));
  EXPECT_EQ(square(ones({4, 4}, {.dtype = f64})).dtype(), f64);
  ASSERT_EQ(square.stats().traces, 2);
  EXPECT_EQ(square.traces()[0].reason, "first call");
  EXPECT_EQ(square.traces()[1].reason, "argument 0: f32[a0, a1] became f64[4, 4] (nearest: trace 0)");
  EXPECT_EQ(square.traces()[1].advice,
            "Another dtype is another trace: cast it with as::cast, or declare a signature with .dtypes = as::DtypePolicy::Cast.");
}

TEST(Function, adds_a_trace_for_another_rank_and_names_the_nearest) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square", .retrace = Retrace::Allow});
  square(ones({2, 3}));
  square(ones({2, 3}, {.dtype = i32}));
  square(ones({5}));
  EXPECT_EQ(square.traces()[2].reason, "argument 0: f32[a0, a1] became f32[5] (nearest: trace 0)");
  EXPECT_EQ(square.traces()[2].cause, Cause::Rank);
}

TEST(Function, forbids_new_traces_when_asked) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square", .retrace = Retrace::Forbid});
  square(ones({2, 3}));
  square(ones({9, 1}));
  const std::string text = text_of<TraceError>([&] { square(ones({2})); });
  EXPECT_NE(
      text.find("function \"square\": this call needs a new trace, which Retrace::Forbid rules out: argument 0: f32[a0, a1] became f32[2]"),
      std::string::npos)
      << text;
  EXPECT_EQ(square.stats().traces, 1);
}

TEST(Function, keeps_declared_sizes_names_and_ranges) {
  const Dim rows = dim("rows"), even = dim("even", {.min = 2, .max = 8, .multiple_of = 2});
  auto product = function([](Tensor a, Tensor b) { return matmul(a, b); },
                          {.name = "product", .signature = {spec(f32, {rows, even}, "a"), spec(f32, {even, 3}, "b")}});
  EXPECT_TRUE(all_equal(product(ones({5, 4}), ones({4, 3})), full({5, 3}, 4.0f)));
  EXPECT_EQ(to_string(product.traces()[0].outputs[0]), "f32[rows, 3]");
  EXPECT_EQ(product.traces()[0].signature, "(a: f32[rows, even], b: f32[even, 3])");
  EXPECT_TRUE(product.traces()[0].checks.empty()) << "one name is one size: nothing is left to check";
  EXPECT_EQ(text_of<SignatureError>([&] { product(ones({5, 4}), ones({6, 3})); }),
            "function \"product\": argument 1 (b) has size 6 along axis 0 where even is 4: it is f32[6, 3]; expected f32[even, 3]. Change "
            "the call or "
            "widen the signature.");
  EXPECT_NE(text_of<SignatureError>([&] { product(ones({5, 10}), ones({10, 3})); }).find("has even = 10, outside 2..8"), std::string::npos);
  EXPECT_NE(text_of<SignatureError>([&] { product(ones({5, 5}), ones({5, 3})); }).find("has even = 5, no multiple of 2"),
            std::string::npos);
  EXPECT_EQ(product.stats().traces, 1);
}

TEST(Function, refuses_sizes_that_break_a_rule_and_stays_usable) {
  auto sum_of = function([](Tensor a, Tensor b) { return a + b; }, {.name = "sum_of"});
  sum_of(ones({2, 4}), ones({2, 4}));
  EXPECT_EQ(text_of<ShapeError>([&] { sum_of(ones({2, 4}), ones({2, 5})); }),
            "add: shapes do not broadcast: a is f32[a0, a1], b is f32[b0, b1] with a1 = 4, b1 = 5; expected sizes that are equal or 1, "
            "aligned at the last "
            "axis. In function \"sum_of\".");
  EXPECT_EQ(sum_of.stats().failed_checks, 1);
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{
           {{2, 4}, {1, 4}}, {{2, 1}, {2, 4}}, {{1, 1}, {3, 4}}, {{0, 4}, {1, 4}}, {{3, 4}, {1, 1}}, {{1, 4}, {3, 1}}, {{3, 1}, {1, 1}}}) {
    const Tensor a = random::normal(left), b = random::normal(right);
    EXPECT_TRUE(all_equal(sum_of(a, b), a + b)) << to_string(left) << " + " << to_string(right);
  }
  EXPECT_EQ(sum_of.stats().traces, 1);
}

TEST(Function, gradient_of_unknown_broadcasting_sums_what_was_repeated) {
  auto gradients = function(
      [](Tensor a, Tensor b) {
        GradientTape tape({.persistent = true});
        tape.watch(a);
        tape.watch(b);
        return tape.gradient(sum(a * b * b), {a, b});
      },
      {.name = "gradients"});
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{{{2, 4}, {2, 4}},
                                                                        {{2, 4}, {1, 4}},
                                                                        {{2, 1}, {2, 40}},
                                                                        {{1, 1}, {3, 4}},
                                                                        {{5, 37}, {5, 1}},
                                                                        {{1, 4}, {3, 1}},
                                                                        {{0, 4}, {1, 4}}}) {
    const Tensor a = random::normal(left), b = random::normal(right);
    const Tensor zero = zeros(left) * zeros(right);
    const std::vector<Tensor> got = gradients(a, b);
    EXPECT_TRUE(all_close(got[0], sum_to(b * b + zero, left), {.absolute = 1e-5})) << to_string(left) << " " << to_string(right);
    EXPECT_TRUE(all_close(got[1], sum_to(a * b * 2.0f + zero, right), {.absolute = 1e-5})) << to_string(left) << " " << to_string(right);
  }
  EXPECT_EQ(gradients.stats().traces, 1);
}

TEST(Function, comparing_sizes_makes_a_trace_per_outcome) {
  auto wide = function([](Tensor x) { return x.shape()[1] > x.shape()[0] ? sum(x) : -sum(x); }, {.name = "wide"});
  EXPECT_EQ(wide(ones({2, 3})).item<float>(), 6);
  EXPECT_EQ(wide(ones({2, 9})).item<float>(), 18);
  EXPECT_EQ(wide.stats().traces, 1);
  EXPECT_EQ(wide(ones({3, 2})).item<float>(), -6);
  EXPECT_EQ(wide(ones({2, 3})).item<float>(), 6);
  ASSERT_EQ(wide.stats().traces, 2);
  EXPECT_NE(wide.traces()[1].reason.find("comparison of sizes: a0 < a1 no longer holds"), std::string::npos) << wide.traces()[1].reason;
}

TEST(Function, specialize_holds_for_one_size) {
  auto twice = function(
      [](Tensor x) {
        const int64_t rows = x.shape()[0].specialize();
        return x * static_cast<float>(rows);
      },
      {.name = "twice"});
  EXPECT_EQ(twice(ones({2})).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(twice(ones({1})).to_vector<float>(), (std::vector<float>{1}));
  ASSERT_EQ(twice.stats().traces, 2);
  EXPECT_NE(twice.traces()[1].reason.find("specialize(): a0 == 2 no longer holds"), std::string::npos) << twice.traces()[1].reason;
}

TEST(Function, takes_host_values_by_value_and_gives_tuples) {
  auto both = function([](Tensor x, float scale) { return std::tuple(x * scale, sum(x)); }, {.name = "both"});
  const auto [scaled, total] = both(ones({3}), 2.0f);
  EXPECT_EQ(scaled.to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(total.item<float>(), 3);
  both(ones({8}), 2.0f);
  EXPECT_EQ(both.stats().traces, 1);
  both(ones({3}), 3.0f);
  EXPECT_EQ(both.stats().traces, 2);
}

TEST(Function, commits_all_assignments_or_none) {
  const Variable first(zeros({2})), second(zeros({3}));
  auto update = function(
      [&](Tensor x, Tensor indices) {
        first.assign_add(ones({2}));
        second.assign(take(x, indices));
        return second.read() * 2.0f;
      },
      {.name = "update"});
  const Tensor x = tensor({1.f, 2.f, 3.f, 4.f});
  EXPECT_EQ(update(x, tensor({3, 0, -1})).to_vector<float>(), (std::vector<float>{8, 2, 8}));
  EXPECT_EQ(text_of<DataError>([&] { update(x, tensor({0, 4, 1})); }),
            "take: index 4 at position 1 is out of range; expected -4 <= index < 4.");
  EXPECT_EQ(first.read().to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(second.read().to_vector<float>(), (std::vector<float>{4, 1, 4}));
}

TEST(Function, random_numbers_advance_from_call_to_call_in_one_trace) {
  auto noise = function([](Tensor x) { return x + random::normal(x.shape()); }, {.name = "noise"});
  random::set_seed(4);
  const Tensor first = noise(zeros({5})), second = noise(zeros({5}));
  EXPECT_FALSE(all_equal(first, second));
  EXPECT_EQ(noise.stats().traces, 1);
  random::set_seed(4);
  EXPECT_TRUE(all_equal(noise(zeros({5})), first));
}

TEST(Function, a_tensor_that_leaves_its_trace_is_a_named_error) {
  Tensor leaked;
  auto leak = function([&](Tensor x) { return leaked = x + 1.0f; }, {.name = "leak"});
  leak(ones({2}));
  EXPECT_THROW(leaked.item<float>(), TraceError);
  EXPECT_NE(text_of<TraceError>([&] { leaked + 1.0f; }).find("add: the tensor f32[a0] left its trace"), std::string::npos)
      << text_of<TraceError>([&] { leaked + 1.0f; });
  auto use = function([&](Tensor x) { return x + leaked; }, {.name = "use"});
  EXPECT_NE(text_of<TraceError>([&] { use(ones({2})); }).find("of another trace"), std::string::npos);
  EXPECT_EQ(use.stats().traces, 0);
}

TEST(Function, an_exception_while_tracing_leaves_the_cache_as_it_was) {
  bool fail = true;
  auto fragile = function(
      [&](Tensor x) {
        if (fail) throw std::runtime_error("not now");
        return x + 1.0f;
      },
      {.name = "fragile"});
  EXPECT_THROW(fragile(ones({2})), std::runtime_error);
  EXPECT_EQ(fragile.stats().traces, 0);
  fail = false;
  EXPECT_EQ(fragile(ones({2})).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ((ones({2}) + ones({2})).to_vector<float>(), (std::vector<float>{2, 2})) << "eager execution is back";
}

TEST(Function, functions_called_while_tracing_are_inlined) {
  auto inner = function([](Tensor x) { return x * 2.0f; }, {.name = "inner"});
  auto outer = function([&](Tensor x) { return inner(x) + 1.0f; }, {.name = "outer"});
  EXPECT_EQ(outer(ones({2})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(inner.stats().calls, 0);
  EXPECT_EQ(outer.stats().traces, 1);
}

TEST(Function, copies_strided_arguments_and_counts_them) {
  auto total = function([](Tensor x) { return sum(x, {.axes = {0}}); }, {.name = "total"});
  const Tensor x = reshape(arange(6, {.dtype = f32}), {2, 3});
  EXPECT_EQ(total(transpose(x)).to_vector<float>(), (std::vector<float>{3, 12}));
  EXPECT_EQ(total(x).to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(total.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape::test
