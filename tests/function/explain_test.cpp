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

TEST(Explain, elementwise_ops_and_a_sum) { expect_kernels(make_total().explain(), "total.txt"); }

TEST(Explain, sizes_that_are_given_are_put_in) {
  const std::string text = make_total().explain({{"rows", 1000}, {"cols", 512}});
  // 512,000 elements: one multiplication and two additions each, 4 bytes each.
  EXPECT_NE(text.find("at rows = 1000, cols = 512\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1.5 MFLOP"), std::string::npos) << text;
  EXPECT_NE(text.find("read 2.0 MiB"), std::string::npos) << text;
  EXPECT_NE(make_total().explain({{"cols", 512}}).find("1536 * rows FLOP"), std::string::npos);
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
  expect_kernels(step.explain(), "step.txt");
  const std::string at_64 = step.explain({{"batch", 64}});
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
  expect_kernels(roll.explain(), "roll.txt");
  // A step is 2 * 64 * 32 * 32 FLOP of product and 64 * 32 additions.
  EXPECT_NE(roll.explain({{"batch", 64}, {"time", 100}}).find("13.3 MFLOP"), std::string::npos);
}

TEST(Explain, branches_and_loops_of_unknown_length_say_so) {
  auto steer = function(
      [](Tensor x) {
        const Tensor y = cond(sum(x) > 0.0f, [&] { return x * 2.0f; }, [&] { return exp(x); });
        return while_loop([](const Tensor& z) { return sum(z) < 100.0f; }, [](const Tensor& z) { return z * 2.0f; }, y);
      },
      {.name = "steer", .signature = {spec(f32, {rows}, "x")}});
  steer(ones({4}));
  expect_kernels(steer.explain(), "steer.txt");
}

TEST(Explain, passes_and_decisions_stand_behind_the_kernels) {
  lower::Program program;
  program.blocks.emplace_back();
  program.passes = {{.name = "fold_constants", .microseconds = 12, .nodes_before = 40, .nodes_after = 38, .rewrites = 2},
                    {.name = "deduplicate", .microseconds = 7, .nodes_before = 38, .nodes_after = 38, .rewrites = 0}};
  for (int i = 10; i < 30; ++i) program.decisions.push_back({"group", "%" + std::to_string(i) + " add", false, "two kernels read it"});
  program.decisions.push_back({"plan_memory", "%7 exp", true, "its place is free then"});
  program.decisions.push_back({"group", "%9 exp", true, "its one consumer walks the same elements"});
  const std::string text = function_detail::explain_program(program, 0, {});
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
