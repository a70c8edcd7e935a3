// explain(): the texts that people read, against files (ANYSHAPE_UPDATE_TEXTS=1 writes them anew), and numbers against a count by hand.
#include "function/program_text.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace anyshape::test {
namespace {

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

// The kernels; passes and decisions are in a test of their own.
void expect_kernels(const std::string& text, const std::string& name) {
  const std::string shown = text.substr(0, text.find("\n  passes\n")), path = ANYSHAPE_EXPLAIN_TEXTS "/" + name;
  if (std::getenv("ANYSHAPE_UPDATE_TEXTS") != nullptr) std::ofstream(path) << shown;
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(shown, expected.str());
  expect_narrow(text);
}

const Dim rows = dim("rows"), cols = dim("cols"), batch = dim("batch"), steps = dim("time");

auto make_total() {
  auto total = function([](Tensor x) { return sum(x * 2.0f + 1.0f); }, {.name = "total", .signature = {spec(f32, {rows, cols}, "x")}});
  total(ones({2, 3}));
  return total;
}

TEST(Explain, elementwise_ops_and_a_sum) { expect_kernels(make_total().explain({.detail = Detail::Full}), "total.txt"); }

TEST(Explain, sizes_that_are_given_are_put_in) {
  const std::string text = make_total().explain({.detail = Detail::Full, .sizes = {{"rows", 1000}, {"cols", 512}}});
  // 512,000 elements: one multiplication and two additions each, 4 bytes each.
  EXPECT_NE(text.find("at rows = 1000, cols = 512\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1.5 MFLOP"), std::string::npos) << text;
  EXPECT_NE(text.find("read 2.0 MiB"), std::string::npos) << text;
  EXPECT_NE(make_total().explain({.detail = Detail::Full, .sizes = {{"cols", 512}}}).find("1536 * rows FLOP"), std::string::npos);
}

TEST(Explain, a_dense_layer_with_its_gradient) {
  const Variable kernel(ones({784, 512}), {.name = "kernel"}), bias(zeros({512}), {.name = "bias"});
  auto step = function(
      [&](Tensor x) {
        GradientTape tape;
        const Tensor z = matmul(x, kernel), y = relu(z + bias), loss = mean(y * y);
        const std::vector<Tensor> gradients = tape.gradient(loss, {kernel, bias});
        kernel.assign_sub(gradients[0] * 0.1f);
        bias.assign_sub(gradients[1] * 0.1f);
        return loss;
      },
      {.name = "step", .signature = {spec(f32, {batch, 784}, "x")}});
  step(ones({2, 784}));
  expect_kernels(step.explain({.detail = Detail::Full}), "step.txt");
  const std::string at_64 = step.explain({.detail = Detail::Full, .sizes = {{"batch", 64}}});
  EXPECT_NE(at_64.find("51.4 MFLOP"), std::string::npos) << at_64;  // 2 * 64 * 784 * 512, forward and backward
}

TEST(Explain, a_scan_and_what_it_runs) {
  const Tensor u = ones({32, 32});
  auto roll = function(
      [&](Tensor h, Tensor xs) {
        return scan(
                   [&](const Tensor& carry, const Tensor& x) {
                     const Tensor next = relu(matmul(carry, u) + x);
                     return std::pair(next, next);
                   },
                   h, xs)
            .second;
      },
      {.name = "roll", .signature = {spec(f32, {batch, 32}, "h"), spec(f32, {steps, batch, 32}, "xs")}});
  roll(ones({2, 32}), ones({3, 2, 32}));
  expect_kernels(roll.explain({.detail = Detail::Full}), "roll.txt");
  // A step is 2 * 64 * 32 * 32 FLOP of product and 64 * 32 additions.
  EXPECT_NE(roll.explain({.detail = Detail::Full, .sizes = {{"batch", 64}, {"time", 100}}}).find("13.3 MFLOP"), std::string::npos);
}

TEST(Explain, branches_and_loops_of_unknown_length_say_so) {
  auto steer = function(
      [](Tensor x) {
        const Tensor y = cond(sum(x) > 0.0f, [&] { return x * 2.0f; }, [&] { return exp(x); });
        return while_loop([](const Tensor& z) { return sum(z) < 100.0f; }, [](const Tensor& z) { return z * 2.0f; }, y);
      },
      {.name = "steer", .signature = {spec(f32, {rows}, "x")}});
  steer(ones({4}));
  expect_kernels(steer.explain({.detail = Detail::Full}), "steer.txt");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Explain, in_short_a_step_is_forward_gradient_and_update) {
  const Variable kernel(ones({784, 512}), {.name = "kernel"});
  auto step = function(
      [&](Tensor x) {
        GradientTape tape;
        const Tensor loss = mean(square(relu(matmul(x, kernel))));
        kernel.assign_sub(tape.gradient(loss, {kernel})[0] * 0.1f);
        return loss;
      },
      {.name = "step", .signature = {spec(f32, {batch, 784}, "x")}});
  step(ones({2, 784}));
  step(ones({64, 784}));
  step(ones({7, 784}));
  // Products are 2 * 64 * 784 * 512 FLOP; the update is two for each of 784 * 512 elements, which it reads twice and writes.
  EXPECT_EQ(step.explain(), R"(function "step", trace 0: (x: f32[batch, 784])
  at batch = 64, the largest seen
  6 kernels, 103.7 MFLOP, 8.7 MiB read and written; arena 1.7 MiB, results 4 B

    kernel  layer   kind              FLOP         bytes  ops
   forward                      51.4 MFLOP       2.0 MiB
         1          product     51.4 MFLOP       1.9 MiB  matmul, less_equal, where
         2          loop        65.5 kFLOP     128.0 KiB  multiply, sum
         3          loop            2 FLOP          12 B  divide x2
  gradient                      51.4 MFLOP       2.1 MiB
         4          loop        65.5 kFLOP     288.0 KiB  add, where, multiply
         5          product     51.4 MFLOP       1.8 MiB  matmul
    update                     802.8 kFLOP       4.6 MiB
         6  kernel  loop       802.8 kFLOP       4.6 MiB  multiply, subtract

  more: explain({.detail = Detail::Full}); times: ANYSHAPE_TIMES=1
)");
  EXPECT_EQ(lines_of(step.explain({{"batch", 1}})).at(1), "  at batch = 1");
}

TEST(Explain, in_short_a_loop_is_one_line_and_counts_all_its_steps) {
  auto sums =
      function([](Tensor h, Tensor xs) { return scan([](const Tensor& c, const Tensor& x) { return std::pair(c + x, c); }, h, xs).first; },
               {.name = "sums", .signature = {spec(f32, {batch}, "h"), spec(f32, {steps, batch}, "xs")}});
  sums(ones({10}), ones({100, 10}));
  EXPECT_EQ(lines_of(sums.explain()).at(5).substr(0, 34), "         1  scan         1000 FLOP");
}

TEST(Explain, in_short_a_data_dependent_size_counts_with_its_bound) {
  auto kept = function([](Tensor x) { return exp(boolean_mask(x, x > 0.0f)); }, {.name = "kept", .signature = {spec(f32, {rows}, "x")}});
  kept(ones({1000}));
  const std::string text = kept.explain();
  EXPECT_NE(text.find("<= "), std::string::npos) << text;
}

// 26 rows are shown: those that cost most, and the others of each part together.
TEST(Explain, in_short_a_long_program_fits_a_screen) {
  std::vector<Variable> weights;
  for (int i = 0; i < 60; ++i) weights.emplace_back(ones({8, 8 + i}), VariableOptions{.name = "w" + std::to_string(i)});
  auto deep = function(
      [&](Tensor x) {
        std::vector<Tensor> parts;
        for (const Variable& weight : weights) parts.push_back(sum(matmul(x, weight)));
        return parts;
      },
      {.name = "deep", .signature = {spec(f32, {batch, 8}, "x")}});
  deep(ones({4, 8}));
  const std::string text = deep.explain();
  EXPECT_LE(lines_of(text).size(), 40U) << text;
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 110U) << line;
}

TEST(Explain, in_short_the_trace_that_was_called_last_is_told) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  square(ones({2}));
  square(ones({2, 3}));
  square(ones({5}));
  const std::string text = square.explain();
  EXPECT_EQ(lines_of(text).at(0), "function \"square\", trace 0: (f32[a0])");
  EXPECT_EQ(lines_of(text).at(1), "  at a0 = 5, the largest seen");
  EXPECT_NE(text.find("\n  1 more trace\n"), std::string::npos) << text;
}

TEST(Explain, measured_kernels_have_a_share_of_the_time) {
  ::setenv("ANYSHAPE_TIMES", "1", 1);
  auto total = function([](Tensor x) { return sum(exp(matmul(x, x))); }, {.name = "total", .signature = {spec(f32, {rows, rows}, "x")}});
  total(ones({200, 200}));
  ::unsetenv("ANYSHAPE_TIMES");
  const std::string text = total.explain();
  EXPECT_NE(text.find(" time  ops\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" %  "), std::string::npos) << text;
  EXPECT_EQ(text.find("ANYSHAPE_TIMES"), std::string::npos) << text;
}

TEST(Explain, passes_and_decisions_stand_behind_the_kernels) {
  lower::Program program;
  program.blocks.emplace_back();
  function_detail::CompileReport report;
  report.passes = {{.name = "fold_constants", .microseconds = 12, .nodes_before = 40, .nodes_after = 38, .rewrites = 2},
                   {.name = "deduplicate", .microseconds = 7, .nodes_before = 38, .nodes_after = 38, .rewrites = 0}};
  for (int i = 10; i < 30; ++i) report.decisions.push_back({"group", "%" + std::to_string(i) + " add", false, "two kernels read it"});
  report.decisions.push_back({"plan_memory", "%7 exp", true, "its place is free then"});
  report.decisions.push_back({"group", "%9 exp", true, "its one consumer walks the same elements"});
  const std::string text = function_detail::explain_program(program, report, 0, {});
  EXPECT_EQ(text, R"(  0 kernels   0 FLOP
              arena 0 B

  passes
    fold_constants           12 us  40 -> 38 nodes  2 rewrites
    1 found nothing           7 us

  decisions
    group
      no   %10 add, %11 add, %12 add, %13 add, %14 add, %15 add, %16 add, %17 add, %18 add, %19 add,
           %20 add, %21 add, %22 add, %23 add, %24 add, %25 add, %26 add, %27 add, %28 add, %29 add:
           two kernels read it
      yes  %9 exp: its one consumer walks the same elements
    plan_memory
      yes  %7 exp: its place is free then
)");
  expect_narrow(text);
}

TEST(Explain, a_function_without_a_trace_says_so) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  EXPECT_EQ(square.explain(), "function \"square\": no trace yet; the first call makes one\n");
}

}  // namespace
}  // namespace anyshape::test
