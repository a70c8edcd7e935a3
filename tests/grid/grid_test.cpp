// What the grid finds: kernels whose blocks are not independent, and mappings that are wrong.
#include "grid/grid.h"

#include "loop/text.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

template <class T>
int64_t address_of(std::vector<T>& values) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(values.data()));
}

int32_t run(const std::string& text, const std::vector<int64_t>& record, GridMistake mistake = GridMistake::None) {
  const GridKernel kernel(std::make_shared<const loop::Kernel>(loop::parse(text)), mistake);
  AsContext context = runtime::make_context(runtime::Pool::shared());
  return Grid::run(kernel, record, context);
}

std::string fault_of(const std::string& text, const std::vector<int64_t>& record, GridMistake mistake = GridMistake::None) {
  try {
    run(text, record, mistake);
  } catch (const GridFault& fault) {
    return fault.what();
  }
  return "";
}

constexpr const char* in_two_phases = R"(kernel two_phases(rows, columns) {
  in x: f32 inout sums: f32 out y: f32
  each r in 0 .. rows work columns {
    s = reduce sum c in 0 .. columns { yield x[r * columns + c] }
    sums[r] = s
  }
  all = reduce sum r in 0 .. rows { yield sums[r] }
  ranges r, i .. j of rows, columns once work 1 { elements c in i .. j { y[r * columns + c] = x[r * columns + c] - sums[r] + all } }
  sums[0] = all
})";

TEST(Grid, blocks_on_threads_share_what_is_independent_and_meet) {
  for (const int64_t rows : {0, 1, 2, 5, 7, 13}) {
    for (const int64_t columns : {1, 4, 5, 6, 23}) {
      const auto count = static_cast<size_t>(rows * columns);
      std::vector<float> x(count), sums(static_cast<size_t>(rows) + 1), y(count), expected(count);
      for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 7) - 2.0F;
      float all = 0;
      for (size_t i = 0; i < count; ++i) all += x[i];
      ASSERT_EQ(run(in_two_phases, {address_of(x), address_of(sums), address_of(y), rows, columns}), 0);
      EXPECT_EQ(sums[0], all);
      for (int64_t r = 0; r < rows; ++r) {
        float sum = 0;
        for (int64_t c = 0; c < columns; ++c) sum += x[static_cast<size_t>(r * columns + c)];
        for (int64_t c = 0; c < columns; ++c) {
          const auto at = static_cast<size_t>(r * columns + c);
          ASSERT_EQ(y[at], x[at] - sum + all) << rows << " x " << columns << " at " << at;
        }
      }
    }
  }
}

// (A race on purpose: nothing for the thread sanitizer, which runs tests that have threads in their names.)
TEST(Grid, two_blocks_that_write_one_place_are_found) {
  std::vector<float> x(20, 1), y(20);
  const std::string fault =
      fault_of("kernel clash(n) { in x: f32 out y: f32 each i in 0 .. n work 1 { y[i // 2] = x[i] } }", {address_of(x), address_of(y), 20});
  EXPECT_NE(fault.find("kernel clash: blocks "), std::string::npos) << fault;
  EXPECT_NE(fault.find(" of the grid both write y["), std::string::npos) << fault;
  EXPECT_NE(fault.find("] between two barriers."), std::string::npos) << fault;
}

TEST(Grid, a_block_that_reads_what_another_one_writes_is_found) {
  std::vector<float> y(20);
  const std::string fault = fault_of("kernel shift(n) { inout y: f32 each i in 1 .. n work 1 { y[i] = y[i - 1] } }", {address_of(y), 20});
  EXPECT_NE(fault.find("of the grid reads what block"), std::string::npos) << fault;
}

TEST(Grid, loops_that_are_cut_for_another_target_are_found) {
  std::vector<float> y(8);
  const std::string fault = fault_of("kernel cut(n) { out y: f32 parallel i in 0 .. n grain 1 { y[i] = f32(i) } }", {address_of(y), 8});
  EXPECT_NE(fault.find("kernel cut: blocks 0 and 1 of the grid both write y["), std::string::npos) << fault;
}

TEST(Grid, loops_whose_order_matters_within_a_block_are_found) {
  std::vector<float> x(12, 1.5F), y(3);
  const char* const in_order =
      "kernel in_order(n) { in x: f32 out y: f32 each r in 0 .. 1 work n { elements i in 0 .. n { y[r] = f32(i) * x[i] } } }";
  EXPECT_NE(fault_of(in_order, {address_of(x), address_of(y), 12}).find("kernel in_order: the grid gives y[0] the bits"),
            std::string::npos);
}

TEST(Grid, every_mistake_of_a_mapping_is_found) {
  std::vector<float> x(7 * 23, 1.5F), sums(8), y(7 * 23);
  const std::vector<int64_t> record = {address_of(x), address_of(sums), address_of(y), 7, 23};
  EXPECT_EQ(fault_of(in_two_phases, record), "");
  for (const GridMistake mistake :
       {GridMistake::NoBarriers, GridMistake::EveryBlockWrites, GridMistake::EveryBlockDoesAll, GridMistake::LastTurnIsLost}) {
    std::ranges::fill(y, 0.0F);
    EXPECT_NE(fault_of(in_two_phases, record, mistake), "") << static_cast<int>(mistake);
  }
}

TEST(Grid, blocks_that_part_at_a_barrier_are_found) {
  GridKernel kernel(
      std::make_shared<const loop::Kernel>(loop::parse("kernel part(n) { out y: f32 each i in 0 .. n work 1 { y[i] = 1 } }")));
  loop::Builder b("part");
  const loop::Value n = b.size("n"), block = b.size("grid.block");
  b.size("grid.blocks");
  b.if_(b.less(block, n), [&] { b.call(meet_routine, {}, {}); });
  kernel.mapped = b.finish();
  std::vector<float> y(2);
  AsContext context = runtime::make_context(runtime::Pool::shared());
  std::string fault;
  try {
    Grid::run(kernel, std::vector<int64_t>{address_of(y), 2}, context);
  } catch (const GridFault& found) {
    fault = found.what();
  }
  EXPECT_EQ(fault, "kernel part: some blocks of the grid end where others meet.");
}

TEST(Grid, what_a_routine_refuses_ends_all_blocks) {
  std::vector<int64_t> splits = {0, 3, 2};
  std::vector<float> y(2);
  const char* const text =
      "kernel refused(n) { in s: i64 out y: f32 call check_splits(s[0]; n, 2, 1, 4) each i in 0 .. n work 1 { y[i] = 1 } }";
  EXPECT_NE(run(text, {address_of(splits), address_of(y), 2}), 0);
  EXPECT_EQ(y, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace anyshape::test
