// Library routines as kernels call them, and parallel loops on the pool.
#include "runtime/cpu/externs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace anyshape::runtime {
namespace {

template <class Index>
AsFailure check(const char* routine, std::vector<Index> indices, int64_t limit, int32_t op, AsFailure before = {}) {
  const int64_t least = -limit;
  Pool pool(1);
  AsContext context = make_context(pool);
  context.failure = before;
  void* pointers[] = {indices.data()};
  const int64_t integers[] = {static_cast<int64_t>(indices.size()), least, limit, op, 0, 1};
  const int32_t status = find_extern(routine)(&context, pointers, integers);
  EXPECT_EQ(status != 0, context.failure.code != before.code || context.failure.op != before.op || before.code != 0);
  return context.failure;
}

TEST(Externs, unknown_names_have_no_routine) {
  EXPECT_EQ(find_extern("product_f16"), nullptr);
  EXPECT_EQ(find_extern(""), nullptr);
}

TEST(Externs, indices_in_range_pass) {
  EXPECT_EQ(check<int32_t>("check_indices_i32", {-5, -1, 0, 4}, 5, 3).code, 0);
  EXPECT_EQ(check<int64_t>("check_indices_i64", {-5, -1, 0, 4}, 5, 3).code, 0);
  EXPECT_EQ(check<int64_t>("check_indices_i64", {}, 0, 3).code, 0);
}

template <class Index>
void expect_failure(const char* routine, Index value, int64_t limit) {
  const AsFailure failure = check<Index>(routine, {0, 1, value, value}, limit, 7);
  EXPECT_EQ(failure.code, index_out_of_range);
  EXPECT_EQ(failure.op, 7);
  EXPECT_EQ(failure.index, 2);
  EXPECT_EQ(failure.value, value);
}

TEST(Externs, indices_out_of_range_name_op_position_and_value) {
  for (int32_t value : {5, -6, INT32_MIN, INT32_MAX}) expect_failure("check_indices_i32", value, 5);
  for (int64_t value : {int64_t{5}, int64_t{-6}, INT64_MIN, INT64_MAX}) expect_failure("check_indices_i64", value, 5);
  EXPECT_EQ(check<int32_t>("check_indices_i32", {0}, 0, 2).code, index_out_of_range);
}

TEST(Externs, a_component_of_every_index_is_checked_alone) {
  Pool pool(1);
  std::vector<int32_t> indices{0, 9, 1, 9, 2, 9};
  void* pointers[] = {indices.data()};
  AsContext context = make_context(pool);
  const int64_t first[] = {6, 0, 3, 5, 0, 2}, second[] = {6, 0, 3, 5, 1, 2};
  EXPECT_EQ(find_extern("check_indices_i32")(&context, pointers, first), 0);
  EXPECT_NE(find_extern("check_indices_i32")(&context, pointers, second), 0);
  EXPECT_EQ(context.failure.index, 1);
  EXPECT_EQ(context.failure.value, 9);
}

TEST(Externs, the_lowest_failing_op_is_kept) {
  const AsFailure lower{.code = 1, .op = 2, .index = 9, .value = 9}, higher{.code = 1, .op = 8, .index = 9, .value = 9};
  EXPECT_EQ(check<int32_t>("check_indices_i32", {99}, 5, 4, lower).op, 2);
  EXPECT_EQ(check<int32_t>("check_indices_i32", {99}, 5, 4, higher).op, 4);
}

TEST(Externs, product_f32_multiplies_and_accumulates) {
  Pool pool(2);
  AsContext context = make_context(pool);
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1}, c{10, 20, 30, 40};
  void* pointers[] = {a.data(), b.data(), c.data()};
  const int64_t plain[] = {0, 0, 2, 2, 3, 3, 2, 2, 0};
  ASSERT_EQ(find_extern("product_f32")(&context, pointers, plain), 0);
  EXPECT_EQ(c, (std::vector<float>{4, 5, 10, 11}));
  const int64_t transposed_and_added[] = {1, 1, 2, 2, 3, 2, 3, 2, 1};  // a as [3, 2], b as [2, 3]
  ASSERT_EQ(find_extern("product_f32")(&context, pointers, transposed_and_added), 0);
  EXPECT_EQ(c, (std::vector<float>{4 + 1, 5 + 9, 10 + 2, 11 + 12}));
}

TEST(Externs, a_product_that_cannot_run_is_a_failure) {
  Pool pool(1);
  AsContext context = make_context(pool);
  std::vector<float> a(16), b(16), c(16);
  void* pointers[] = {a.data(), b.data(), c.data()};
  const int64_t overlapping_rows[] = {0, 0, 4, 4, 4, 1, 4, 4, 0};
  EXPECT_NE(find_extern("product_f32")(&context, pointers, overlapping_rows), 0);
  EXPECT_EQ(context.failure.code, routine_failed);
}

TEST(Externs, check_row_lengths_names_the_first_row_that_is_too_long) {
  Pool pool(1);
  AsContext context = make_context(pool);
  int64_t splits[] = {0, 3, 3, 8, 14};
  void* pointers[] = {splits};
  const int64_t wide[] = {4, 6, 7}, narrow[] = {4, 4, 7}, none[] = {0, 0, 7};
  EXPECT_EQ(find_extern("check_row_lengths")(&context, pointers, wide), 0);
  EXPECT_EQ(find_extern("check_row_lengths")(&context, pointers, none), 0);
  EXPECT_NE(find_extern("check_row_lengths")(&context, pointers, narrow), 0);
  EXPECT_EQ(context.failure.code, row_too_long);
  EXPECT_EQ(context.failure.op, 7);
  EXPECT_EQ(context.failure.index, 2);
  EXPECT_EQ(context.failure.value, 5);
}

// Doubles buffers[0][i] for the iterations of its part; fails with the index itself from frame[0] on.
int32_t double_or_fail(AsContext*, void* const* buffers, const int64_t* dims, const int64_t* frame, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    if (i >= frame[0]) return static_cast<int32_t>(i);
    static_cast<int64_t*>(buffers[0])[i] *= dims[0];
  }
  return 0;
}

TEST(Parallel, runs_every_iteration_once) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t grain : {1, 7, 64, 5000}) {
      Pool pool(threads);
      AsContext context = make_context(pool);
      std::vector<int64_t> values(1000);
      std::iota(values.begin(), values.end(), 0);
      void* buffers[] = {values.data()};
      const int64_t dims[] = {2}, frame[] = {INT64_MAX};
      ASSERT_EQ(context.parallel(&context, double_or_fail, buffers, dims, frame, 10, 990, grain), 0);
      for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i >= 10 && i < 990 ? 2 * i : i);
    }
}

TEST(Parallel, an_empty_range_runs_nothing) {
  Pool pool(2);
  AsContext context = make_context(pool);
  EXPECT_EQ(parallel(&context, nullptr, nullptr, nullptr, nullptr, 5, 5, 1), 0);
  EXPECT_EQ(parallel(&context, nullptr, nullptr, nullptr, nullptr, 5, 3, 1), 0);
}

TEST(Parallel, a_range_within_the_grain_does_not_need_a_pool) {
  AsContext context{};
  std::vector<int64_t> values{1, 2, 3};
  void* buffers[] = {values.data()};
  const int64_t dims[] = {3}, frame[] = {INT64_MAX};
  EXPECT_EQ(parallel(&context, double_or_fail, buffers, dims, frame, 0, 3, 3), 0);
  EXPECT_EQ(values, (std::vector<int64_t>{3, 6, 9}));
}

TEST(Parallel, gives_the_result_of_the_lowest_failing_part) {
  for (int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    AsContext context = make_context(pool);
    std::vector<int64_t> values(100, 1);
    void* buffers[] = {values.data()};
    const int64_t dims[] = {2}, frame[] = {37};
    for (int round = 0; round < 50; ++round) EXPECT_EQ(parallel(&context, double_or_fail, buffers, dims, frame, 0, 100, 1), 37);
  }
}

// Each iteration checks one index as its own op: op 100 - i, out of range for i >= 20.
int32_t check_one(AsContext* context, void* const* buffers, const int64_t*, const int64_t*, int64_t begin, int64_t end) {
  int32_t status = 0;
  for (int64_t i = begin; i < end; ++i) {
    void* pointers[] = {static_cast<int64_t*>(buffers[0]) + i};
    const int64_t integers[] = {1, -20, 20, 100 - i, 0, 1};
    status |= find_extern("check_indices_i64")(context, pointers, integers);
  }
  return status;
}

TEST(Parallel, tasks_that_fail_together_leave_the_lowest_op) {
  std::vector<int64_t> indices(64);
  std::iota(indices.begin(), indices.end(), 0);
  void* buffers[] = {indices.data()};
  for (int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    AsContext context = make_context(pool);
    EXPECT_NE(parallel(&context, check_one, buffers, nullptr, nullptr, 0, 64, 1), 0);
    EXPECT_EQ(context.failure.op, 100 - 63);
    EXPECT_EQ(context.failure.value, 63);
  }
}

TEST(Externs, parts_stand_side_by_side_in_every_row_for_any_number_of_threads) {
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    AsContext context = make_context(pool);
    // Short rows, rows that are cut inside, one row; a run of nothing; room left beside the parts.
    for (const auto& [rows, scale] : {std::pair<int64_t, int64_t>{5, 1}, {3000, 9}, {7, 20'000}, {1, 200'000}, {0, 4}, {3, 0}}) {
      const std::vector<int64_t> lengths = {2 * scale, 0, scale, 3 * scale};
      const int64_t distance = 7 * scale;
      std::vector<std::vector<int16_t>> parts;
      for (const int64_t length : lengths) {
        auto& part = parts.emplace_back(static_cast<size_t>(rows * length));
        std::iota(part.begin(), part.end(), static_cast<int16_t>(100 * parts.size()));
      }
      std::vector<int16_t> target(static_cast<size_t>(rows * distance), -1);
      std::vector<void*> pointers{target.data()};
      for (auto& part : parts) pointers.push_back(part.data());
      std::vector<int64_t> integers{4, rows, distance, 2};
      integers.insert(integers.end(), lengths.begin(), lengths.end());
      EXPECT_EQ(find_extern("join_parts")(&context, pointers.data(), integers.data()), 0);
      std::vector<int16_t> wanted;
      for (int64_t row = 0; row < rows; ++row) {
        for (size_t i = 0; i < parts.size(); ++i) {
          wanted.insert(wanted.end(), parts[i].begin() + row * lengths[i], parts[i].begin() + (row + 1) * lengths[i]);
        }
        wanted.insert(wanted.end(), static_cast<size_t>(scale), -1);
      }
      EXPECT_TRUE(target == wanted) << threads << " threads, " << rows << " rows, " << scale;
    }
  }
}

}  // namespace
}  // namespace anyshape::runtime
