// Neutral loops as a CPU runs them: how they are cut, and that no cut changes a result.
#include "lower/map_cpu.h"

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace anyshape::lower {
namespace {

std::string mapped(const std::string& text, const loop::Target& target = {}) { return loop::print(map_for_cpu(loop::parse(text), target)); }

void expect_mapped(const std::string& neutral, const std::string& expected) {
  EXPECT_EQ(mapped(neutral), loop::print(loop::parse(expected)));
}

TEST(MapCpu, iterations_with_little_work_share_a_task) {
  expect_mapped(R"(kernel f(rows, columns) { in x: f32 out y: f32
    each r in 0 .. rows work columns { elements c in 0 .. columns { y[r * columns + c] = -x[r * columns + c] } } })",
                R"(kernel f(rows, columns) { in x: f32 out y: f32
    parallel r in 0 .. rows grain max(16384 // max(columns, 1), 1) {
      vector c in 0 .. columns { y[r * columns + c] = -x[r * columns + c] } } })");
}

TEST(MapCpu, work_that_fills_a_task_is_a_task) {
  expect_mapped("kernel f(n) { out y: f32 each r in 0 .. n work 20000 { y[r] = 1 } }",
                "kernel f(n) { out y: f32 parallel r in 0 .. n grain 1 { y[r] = 1 } }");
}

TEST(MapCpu, what_is_walked_once_is_cut_into_tasks) {
  expect_mapped(R"(kernel f(n) { in x: f32 out y: f32
    ranges r, i .. j of 1, n once work 1 { elements k in i .. j { y[k] = -x[k] } } })",
                R"(kernel f(n) { in x: f32 out y: f32
    parallel t in 0 .. (n + 16383) // 16384 grain 1 {
      vector k in t * 16384 .. min(t * 16384 + 16384, n) { y[k] = -x[k] } } })");
}

TEST(MapCpu, ranges_of_short_rows_share_a_task) {
  expect_mapped(R"(kernel f(m, n) { in x: f32 out y: f32
    ranges r, i .. j of m, n once work 1 { elements k in i .. j { y[r * n + k] = -x[r * n + k] } } })",
                R"(kernel f(m, n) { in x: f32 out y: f32
    parts = (n + 16383) // 16384
    parallel t in 0 .. m * parts grain max(16384 // max(min(n, 16384), 1), 1) {
      row = t // parts
      begin = (t - row * parts) * 16384
      vector k in begin .. min(begin + 16384, n) { y[row * n + k] = -x[row * n + k] } } })");
}

TEST(MapCpu, strips_are_as_wide_as_their_walk_wants) {
  for (const auto& [walk, width] : {std::pair{"lines", 512}, std::pair{"sums", 1024}, std::pair{"scattered", 64}}) {
    const std::string text = mapped(std::string("kernel f(n, m) { inout y: f32 ranges r, i .. j of 1, n ") + walk +
                                    " work m { for l in 0 .. m { elements k in i .. j { y[k] = y[k] + 1 } } } }");
    EXPECT_NE(text.find("* " + std::to_string(width)), std::string::npos) << text;
  }
}

TEST(MapCpu, runs_are_as_long_as_what_is_near) {
  expect_mapped(R"(kernel f(n, columns) { inout y: f32
    runs i .. j in 0 .. n work columns { elements c in 0 .. columns { s = for r in i .. j carry (a = y[c]) { next a + 1 } y[c] = s } } })",
                R"(kernel f(n, columns) { inout y: f32
    length = min(max(2048 // max(columns, 1), 2), 16)
    for t in 0 .. (n + (length - 1)) // length {
      from = t * length
      vector c in 0 .. columns { s = for r in from .. min(from + length, n) carry (a = y[c]) { next a + 1 } y[c] = s } } })");
}

TEST(MapCpu, loops_that_are_cut_already_stay) {
  const std::string text = "kernel f(n) {\n  out y: f32\n  parallel i0 in 0 .. n grain 3 {\n    y[i0] = 1.0\n  }\n}\n";
  EXPECT_EQ(mapped(text), text);
}

// All kinds of loops around each other: rows that are added up along both axes, within branches and loops that carry values.
constexpr const char* all_kinds = R"(kernel all(rows, columns, parts) {
  in x: f32
  in k: i64
  inout sums: f32
  inout totals: f32
  inout scaled: f32
  ranges r, a .. b of 1, columns sums work rows {
    elements c in a .. b { sums[c] = 0.0 }
    runs i .. j in 0 .. rows work columns {
      elements c in a .. b { s = for r2 in i .. j carry (t = sums[c]) { next t + x[r2 * columns + c] }  sums[c] = s }
    }
  }
  each r in 0 .. rows work columns {
    s = reduce sum c in 0 .. columns { yield x[r * columns + c] }
    if s > 0.0 { totals[r] = s } else { totals[r] = -s }
  }
  if rows > 1 {
    ranges r, a .. b of rows, columns once work 1 {
      elements c in a .. b { scaled[r * columns + c] = x[r * columns + c] / totals[r] }
    }
  }
  for t in 0 .. parts {
    ranges r, a .. b of 2, columns scattered work rows {
      for n in 0 .. rows { elements c in a .. b { if r == 0 { scaled[k[n] * columns + c] = scaled[k[n] * columns + c] + x[n * columns + c] } } }
    }
  }
})";

std::vector<float> run(const loop::Kernel& kernel, int64_t rows, int64_t columns) {
  const auto count = static_cast<size_t>(rows * columns);
  std::vector<float> x(count + 128), sums(static_cast<size_t>(columns) + 128), totals(static_cast<size_t>(rows) + 128), scaled(count + 128);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i * 7919 % 101) / 17 - 2;
  std::vector<int64_t> k(static_cast<size_t>(rows));
  for (size_t i = 0; i < k.size(); ++i) k[i] = static_cast<int64_t>(i * 3) % rows;
  void* const buffers[] = {x.data(), k.data(), sums.data(), totals.data(), scaled.data()};
  const int64_t dims[] = {rows, columns, 2};
  EXPECT_EQ(loop::interpret(kernel, nullptr, buffers, dims, nullptr), 0);
  std::vector<float> all = std::move(sums);
  all.insert(all.end(), totals.begin(), totals.end());
  all.insert(all.end(), scaled.begin(), scaled.end());
  return all;
}

TEST(MapCpu, no_target_changes_a_bit) {
  const loop::Kernel neutral = loop::parse(all_kinds);
  std::vector<loop::Target> targets(1);
  targets.push_back({.task_elements = 1, .columns = {0, 1, 1, 1}, .run_elements = 1, .least_run = 1, .most_run = 1});
  targets.push_back({.task_elements = 7, .columns = {0, 3, 5, 2}, .run_elements = 9, .least_run = 1, .most_run = 3});
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {9, 70}, {40, 17}, {2, 1100}}) {
    const std::vector<float> expected = run(neutral, rows, columns);
    for (const loop::Target& target : targets)
      EXPECT_EQ(run(map_for_cpu(neutral, target), rows, columns), expected) << rows << " x " << columns;
  }
}

}  // namespace
}  // namespace anyshape::lower
