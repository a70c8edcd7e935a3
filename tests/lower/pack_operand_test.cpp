// Which products copy their right operand first: a rule over sizes, decided where they are known.
#include "base/switches.h"
#include "lower/lowered.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

std::string told(const Lowered& program) { return first_decision(program, "pack_operands"); }

// The sizes of f32 scratch.
std::string scratch(const lower::Program& program) {
  std::string sizes;
  for (const lower::ProgramBuffer& buffer : program.buffers) {
    if (buffer.kind == lower::BufferKind::Temporary && buffer.dtype == Dtype::f32 && buffer.first_item == buffer.last_item)
      sizes += (sizes.empty() ? "" : ", ") + to_string(buffer.count);
  }
  return sizes;
}

// Nothing stays a temporary but scratch: the product is read by a sum.
Lowered product(const std::string& a, const std::string& b, const std::string& result, const std::string& attrs = "",
                const std::string& dtype = "f32") {
  return lowered(fmt::format(R"(graph f(%0 a: {0}[{1}], %1 b: {0}[{2}]) {{
  %2 = matmul(%0, %1){4} : {0}[{3}]
  %3 = tanh(%2) : {0}[{3}]
  return %3
}}
)",
                             dtype, a, b, result, attrs));
}

const std::string turned = " {transpose_a=false, transpose_b=true}";

TEST(PackOperand, rows_4_KiB_apart_are_copied_for_many_rows) {
  const Lowered program = product("rows, 256", "256, 1024", "rows, 1024");
  EXPECT_EQ(told(program), "yes: b is copied to rows further apart where rows >= 256");
  EXPECT_EQ(scratch(program), "270336 * min(rows / 256, 1)");
}

TEST(PackOperand, a_batch_of_a_is_more_rows) {
  const Lowered program = product("batch, time, 256", "256, 1024", "batch, time, 1024");
  EXPECT_EQ(told(program), "yes: b is copied to rows further apart where batch * time >= 256");
}

TEST(PackOperand, a_transposed_b_is_turned_once) {
  const Lowered program = product("rows, 1024", "256, 1024", "rows, 256", turned);
  EXPECT_EQ(told(program), "yes: b is transposed once where rows >= 256");
  EXPECT_EQ(scratch(program), "294912 * min(rows / 256, 1)");
}

TEST(PackOperand, sizes_that_are_known_decide_at_once) {
  EXPECT_EQ(told(product("rows, 256", "256, 1000", "rows, 1000")), "no: rows of b are 1000 elements apart, no multiple of 1024");
  EXPECT_EQ(told(product("255, 256", "256, 1024", "255, 1024")), "no: 255 rows, fewer than 256");
  EXPECT_EQ(told(product("256, 256", "256, 1024", "256, 1024")), "yes: b is copied to rows further apart");
  EXPECT_EQ(told(product("rows, 63", "63, 1024", "rows, 1024")), "no: 63 terms, fewer than 64");
  EXPECT_EQ(told(product("rows, 512", "10, 512", "rows, 10", turned)), "no: 10 columns, fewer than 32");
  EXPECT_EQ(scratch(product("rows, 256", "256, 1000", "rows, 1000")), "");
}

TEST(PackOperand, open_sizes_are_a_rule_that_every_call_follows) {
  const Lowered program = product("m, k", "k, n", "m, n");
  EXPECT_EQ(told(program), "yes: b is copied to rows further apart where n % 1024 == 0 and m >= 256 and n >= 32 and k >= 64");
}

TEST(PackOperand, a_matrix_for_every_entry_and_a_transposed_a_are_left) {
  EXPECT_EQ(told(product("batch, 300, 64", "batch, 64, 1024", "batch, 300, 1024")), "no: there is a matrix b for every entry of the batch");
  EXPECT_EQ(told(product("64, 300", "64, 1024", "300, 1024", " {transpose_a=true, transpose_b=false}")),
            "no: a is transposed: a copy costs what it saves");
}

TEST(PackOperand, one_matrix_with_axes_of_size_1_is_one) {
  EXPECT_EQ(told(product("batch, 300, 64", "1, 64, 1024", "batch, 300, 1024")),
            "yes: b is copied to rows further apart where 300 * batch >= 256");
}

TEST(PackOperand, only_products_of_the_library_are_asked) { EXPECT_EQ(told(product("300, 64", "64, 1024", "300, 1024", "", "f64")), ""); }

TEST(PackOperand, can_be_switched_off) {
  const ScopedWithout off("pack_operands");
  EXPECT_EQ(told(product("300, 64", "64, 1024", "300, 1024")), "no: switched off");
}

}  // namespace
}  // namespace anyshape::test
