// Loops over blocks of rows: which bodies keep rows apart, with sizes as symbols, as numbers, and as numbers that other axes have, too.
#include "base/switches.h"
#include "lower/lowered.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace anyshape::test {
namespace {

constexpr int64_t size = 32;  // of the batch and of every other axis

struct Inputs {
  Tensor h, x, weight, shift;  // [rows, size], [rows, size], [size, size], [size]
};
using Step = std::function<Tensor(const Inputs&)>;

// The number of rows as a symbol, or as what it is.
Lowered program_of(const Step& step, const Dim& rows) {
  const int64_t count = rows.is_constant() ? rows.value() : size;
  const auto traced = function(
      [&](Tensor h, Tensor xs, Tensor weight, Tensor shift) {
        return scan(
            [&](const Tensor& carry, const Tensor& x) {
              const Tensor next = step({carry, x, weight, shift});
              return std::pair(next, next);
            },
            h, xs);
      },
      {.name = "loop", .signature = {spec(f32, {rows, size}), spec(f32, {3, rows, size}), spec(f32, {size, size}), spec(f32, {size})}});
  traced(ones({count, size}), ones({3, count, size}), ones({size, size}), ones({size}));
  return lowered(traced.traces()[0].graph);
}

std::string decided(const Lowered& program) { return first_decision(program, "split_rows"); }

const lower::ScanItem& loop_of(const lower::Program& program) {
  for (const lower::Item& item : program.blocks[0].items) {
    if (const auto* const scan = std::get_if<lower::ScanItem>(&item)) return *scan;
  }
  throw InternalError("the program has no loop");
}

bool runs_apart(const Step& step, const Dim& rows) {
  const Lowered program = program_of(step, rows);
  EXPECT_EQ(loop_of(program).rows.apart, decided(program).starts_with("yes")) << decided(program);
  return loop_of(program).rows.apart;
}

TEST(SplitRows, steps_that_keep_rows_apart_are_found_where_all_sizes_are_equal) {
  const std::vector<std::pair<std::string, Step>> steps = {
      {"elements", [](const Inputs& in) { return tanh(in.h + in.x); }},
      {"product", [](const Inputs& in) { return in.x + matmul(in.h, in.weight); }},
      {"square both as rows and as columns of a product", [](const Inputs& in) { return in.x * matmul(in.h, in.weight) + in.shift; }},
      {"slices and joins",
       [](const Inputs& in) {
         const std::vector<Tensor> parts = split(matmul(in.h, in.weight), 2, {.axis = 1});
         return concat({parts[1], parts[0] + 1.0f}, {.axis = 1}) * in.x;
       }},
      {"reduction", [](const Inputs& in) { return softmax(in.h) + in.x; }},
      {"filled", [](const Inputs& in) { return in.h + in.x + full(in.h.shape(), sum(in.shift)); }},
      {"shapes", [](const Inputs& in) {
         const Dim rows = in.h.shape()[0];
         return reshape(sum(reshape(in.h, {rows, 4, 8}), {.axes = {1}, .keep_dims = true}) * ones({4, 1}), in.h.shape()) + in.x;
       }}};
  for (const auto& [name, step] : steps) {
    for (const Dim& rows : {Dim(size), dim("batch")}) EXPECT_TRUE(runs_apart(step, rows)) << name << " of " << to_string(rows);
  }
}

TEST(SplitRows, rows_that_meet_stay_together_where_all_sizes_are_equal) {
  const std::vector<std::pair<std::string, Step>> steps = {
      {"transposed", [](const Inputs& in) { return in.x + transpose(in.h); }},
      {"rows of the second factor", [](const Inputs& in) { return in.x + matmul(in.weight, in.h); }},
      {"rows of both factors", [](const Inputs& in) { return in.x + matmul(in.h, in.h); }},
      {"rows along the columns", [](const Inputs& in) { return in.x + sum(in.h, {.axes = {1}}); }},
      {"sum over rows", [](const Inputs& in) { return in.h * in.x - mean(in.h, {.axes = {0}, .keep_dims = true}); }},
      {"joined rows", [](const Inputs& in) { return slice(concat({in.h, in.x}), {{.begin = 8, .end = 8 + size}}); }},
      {"numbered rows", [](const Inputs& in) { return in.h * in.x + reshape(cast(arange(size), f32), {size, 1}); }},
      {"backwards", [](const Inputs& in) { return in.x + flip(in.h, {0}); }}};
  for (const auto& [name, step] : steps) EXPECT_FALSE(runs_apart(step, size)) << name;
}

// The batch stands only where rows are: a block of them still reads all of a weight that is as long.
TEST(SplitRows, only_rows_are_counted_in_blocks) {
  const Lowered program = program_of([](const Inputs& in) { return in.x + matmul(in.h, in.weight); }, size);
  const lower::ScanItem& loop = loop_of(program);
  ASSERT_TRUE(loop.has_rows());
  EXPECT_TRUE(loop.rows.count.same_as(size));
  EXPECT_TRUE(loop.rows.total.same_as(3 * size));
  ASSERT_EQ(loop.reads.size(), 1U) << "the weight is read whole";
  EXPECT_EQ(loop.reads[0].place.by, lower::ScanPlace::By::StepRows);
}

TEST(SplitRows, decisions_say_what_keeps_rows_together) {
  const auto said = [](const Step& step, const Dim& rows = size) { return decided(program_of(step, rows)); };
  const Step together = [](const Inputs& in) { return in.x + flip(in.h, {0}); }, apart = [](const Inputs& in) { return in.x + in.h; };
  EXPECT_EQ(said(apart), "yes: every op of its body works on each row by itself");
  EXPECT_TRUE(said(together).ends_with(" works on all rows together")) << said(together);
  for (const int64_t rows : {0, 1}) EXPECT_EQ(said(apart, rows), "no: there is one row at most");
  const ScopedWithout without("split_rows");
  EXPECT_EQ(said(apart), "");
}

}  // namespace
}  // namespace anyshape::test
