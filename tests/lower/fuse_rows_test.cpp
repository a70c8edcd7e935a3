// Kernels over rows: what becomes one kernel, what its passes are, and that results have the bits of kernels by themselves.
#include "base/switches.h"
#include "function/compile.h"
#include "lower/lowered.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace anyshape::test {
namespace {

using Loops = std::map<std::string, int>;

const std::string softmax_text = R"(graph f(%0 x: f32[n, 100]) {
  %1 = max(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %2 = subtract(%0, %1) : f32[n, 100]
  %3 = exp(%2) : f32[n, 100]
  %4 = sum(%3) {axes=[1], keep_dims=true} : f32[n, 1]
  %5 = divide(%3, %4) : f32[n, 100]
  return %5
}
)";

TEST(FuseRows, softmax_is_one_kernel_of_three_passes_without_scratch) {
  EXPECT_EQ(loops_of(softmax_text), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}}));
  EXPECT_EQ(lowered(softmax_text).buffers.size(), 2U) << "x, and the result that holds the exponentials until they are divided";
  const ScopedWithout without("fuse_rows");
  EXPECT_EQ(lowered(softmax_text).steps.size(), 4U);
}

TEST(FuseRows, normalisation_computes_its_distances_again_instead_of_keeping_them) {
  const std::string text = R"(graph f(%0 x: f32[n, 100], %1 gamma: f32[100]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 100]
  %4 = multiply(%3, %3) : f32[n, 100]
  %5 = sum(%4) {axes=[1], keep_dims=true} : f32[n, 1]
  %6 = rsqrt(%5) : f32[n, 1]
  %7 = multiply(%3, %6) : f32[n, 100]
  %8 = multiply(%7, %1) : f32[n, 100]
  return %8
}
)";
  EXPECT_EQ(loops_of(text), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}}));
  EXPECT_EQ(lowered(text).buffers.size(), 3U);
}

TEST(FuseRows, short_rows_are_walked_several_at_once_and_the_rest_one_by_one) {
  const auto text_of = [](const std::string& length) {
    return fmt::format(R"(graph f(%0 x: f32[n, {0}]) {{
  %1 = max(%0) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %2 = subtract(%0, %1) : f32[n, {0}]
  %3 = sum(%2) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %4 = multiply(%2, %3) : f32[n, {0}]
  return %4
}}
)",
                       length);
  };
  const Loops by_itself = {{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}};
  EXPECT_EQ(loops_of(text_of("65")), by_itself);
  EXPECT_EQ(loops_of(text_of("64")), (Loops{{"parallel", 1}, {"for", 2}, {"reduce", 4}, {"vector", 2}}));
  const int reduces = loops_of(text_of("m")).at("reduce");
  const auto why = [&](const std::string& length) { return first_decision(lowered(text_of(length)), "rows_together"); };
  EXPECT_EQ(why("m"), "yes: rows of at most 64 elements are walked 4 at once");
  EXPECT_EQ(why("65"), "no: rows of 65 elements keep a core busy by themselves");
  const ScopedWithout without("rows_together");
  EXPECT_EQ(why("64"), "no: switched off");
  EXPECT_EQ(loops_of(text_of("64")), by_itself);
  EXPECT_EQ(loops_of(text_of("m")).at("reduce"), reduces - 2);
}

TEST(FuseRows, wide_rows_are_walked_several_at_once_where_columns_are_summed_too) {
  const auto reduces_of = [](int length) {
    return loops_of(fmt::format(R"(graph f(%0 x: f32[n, {0}]) {{
  %1 = sum(%0) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %2 = multiply(%0, %1) : f32[n, {0}]
  %3 = sum(%2) {{axes=[0]}} : f32[{0}]
  return %1, %3
}}
)",
                                length))
        .at("reduce");
  };
  EXPECT_EQ(reduces_of(64), 2);
  EXPECT_EQ(reduces_of(65), 1);
  EXPECT_EQ(reduces_of(895), 1);
  EXPECT_EQ(reduces_of(896), 2);
}

TEST(FuseRows, rows_that_share_a_scratch_are_walked_one_by_one) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[n, 8]) {
  %1 = exp(%0) : f32[n, 8]
  %2 = sum(%1) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%1, %2) : f32[n, 8]
  %4 = max(%3) {axes=[1]} : f32[n]
  return %4
}
)"),
            (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}}));
}

TEST(FuseRows, sums_that_read_the_same_row_are_one_pass) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[n, 100]) {
  %1 = sum(%0) {axes=[1]} : f32[n]
  %2 = multiply(%0, %0) : f32[n, 100]
  %3 = sum(%2) {axes=[1]} : f32[n]
  return %1, %3
}
)"),
            (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 1}}));
}

TEST(FuseRows, an_expensive_value_without_a_result_to_stand_in_has_a_scratch_of_one_row_per_task) {
  const std::string text = R"(graph f(%0 x: f32[n, 64]) {
  %1 = exp(%0) : f32[n, 64]
  %2 = sum(%1) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%1, %2) : f32[n, 64]
  %4 = max(%3) {axes=[1]} : f32[n]
  return %4
}
)";
  const lower::Program program = lowered(text);
  ASSERT_EQ(program.steps.size(), 1U);
  ASSERT_EQ(program.buffers.size(), 3U);
  EXPECT_EQ(to_string(program.buffers[2].count), "64 * ((n + 255) / 256)");
}

TEST(FuseRows, what_others_read_is_written_on_the_way) {
  const std::string text = R"(graph f(%0 x: f32[n, 100], %1 w: f32[100, 100]) {
  %2 = tanh(%0) : f32[n, 100]
  %3 = sum(%2) {axes=[1], keep_dims=true} : f32[n, 1]
  %4 = subtract(%2, %3) : f32[n, 100]
  %5 = matmul(%2, %1) : f32[n, 100]
  return %4, %5, %3
}
)";
  const lower::Program program = lowered(text);
  ASSERT_EQ(program.steps.size(), 2U);
  EXPECT_EQ(loops(program.steps[0].kernel.body), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 1}, {"vector", 1}}));
  EXPECT_EQ(in_memory(text), (std::set<int>{2, 3, 4, 5}));
}

TEST(FuseRows, what_needs_a_product_of_the_row_stays_behind_it) {
  const std::string text = R"(graph f(%0 x: f32[n, 64], %1 w: f32[64, 64]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 64]
  %4 = matmul(%3, %1) : f32[n, 64]
  %5 = add(%0, %4) : f32[n, 64]
  %6 = sum(%5) {axes=[1], keep_dims=true} : f32[n, 1]
  %7 = subtract(%5, %6) : f32[n, 64]
  return %7
}
)";
  EXPECT_EQ(lowered(text).steps.size(), 3U);
}

TEST(FuseRows, what_reads_other_rows_is_another_kernel) {
  EXPECT_EQ(lowered(R"(graph f(%0 x: f32[n, n]) {
  %1 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %2 = transpose(%1) {permutation=[1, 0]} : f32[1, n]
  %3 = subtract(%0, %2) : f32[n, n]
  return %3
}
)")
                .steps.size(),
            3U);
}

TEST(FuseRows, indices_are_checked_before_they_are_used) {
  EXPECT_EQ(lowered(R"(graph f(%0 x: i32[n, 64], %1 table: f32[9]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : i32[n, 1]
  %3 = take(%1, %2) {axis=0} : f32[n, 1]
  return %3
}
)")
                .steps.size(),
            2U);
}

const std::string distances_text = R"(graph f(%0 x: f32[n, 64], %1 dy: f32[n, 64]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 64]
  %4 = multiply(%3, %3) : f32[n, 64]
  %5 = sum(%4) {axes=[1]} : f32[n]
  %6 = multiply(%3, %1) : f32[n, 64]
)";

// The gradients of scale and shift.
TEST(FuseRows, sums_along_columns_of_the_same_elements_are_part_of_it) {
  const std::string text = distances_text + R"(  %7 = sum(%6) {axes=[0]} : f32[64]
  %8 = sum(%1) {axes=[0], keep_dims=true} : f32[1, 64]
  return %5, %7, %8
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{5, 7, 8}));
  EXPECT_EQ(lowered(text).steps.size(), 1U);
}

TEST(FuseRows, what_needs_a_sum_along_columns_comes_after_it) {
  EXPECT_EQ(lowered(R"(graph f(%0 x: f32[n, n]) {
  %1 = sum(%0) {axes=[0]} : f32[n]
  %2 = sum(%0) {axes=[1]} : f32[n]
  %3 = add(%1, %2) : f32[n]
  return %3
}
)")
                .steps.size(),
            2U);
}

TEST(FuseRows, what_is_cheap_is_computed_again_by_other_kernels) {
  const std::string text = distances_text + R"(  %7 = sum(%6) {axes=[0, 1]} : f32[]
  return %5, %7
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{2, 5, 7})) << "not the distances, which two kernels read";
  EXPECT_EQ(lowered(text).steps.size(), 2U);
}

// There are a million ways from the last value to x.
TEST(FuseRows, a_chain_in_which_each_value_is_read_twice_is_planned_in_no_time) {
  std::string text = "graph f(%0 x: f32[n, 64]) {\n";
  for (int x = 0; x < 40; x += 2) {
    text += fmt::format("  %{} = tanh(%{}) : f32[n, 64]\n  %{} = add(%{}, %{}) : f32[n, 64]\n", x + 1, x, x + 2, x, x + 1);
  }
  text += R"(  %41 = sum(%40) {axes=[1]} : f32[n]
  %42 = multiply(%40, %0) : f32[n, 64]
  %43 = sum(%42) {axes=[0, 1]} : f32[]
  return %41, %43
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{40, 41, 43}));
}

TEST(FuseRows, decisions_have_reasons) {
  Decisions decisions;
  const auto graph = graph::parse(softmax_text, find_op);
  lower::lower(*graph, decisions);
  ASSERT_FALSE(decisions.empty());
  const auto is_ours = [](const Decision& decision) { return decision.stage == "fuse_rows"; };
  ASSERT_TRUE(std::ranges::any_of(decisions, is_ours));
  for (const Decision& decision : decisions) {
    if (is_ours(decision)) {
      EXPECT_TRUE(decision.yes && decision.reason.starts_with("it walks the rows of %")) << decision.reason;
    }
  }
}

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
