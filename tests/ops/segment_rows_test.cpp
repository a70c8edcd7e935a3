// Ops that change each row for itself against the dense ops on each row alone.
#include "ops/segment_rows.h"
#include "autodiff/finite_differences.h"

namespace anyshape {
namespace {

struct Pair {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> segment;
  std::function<Tensor(const Tensor&)> dense;  // of a batch of rows
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"softmax", segment::softmax, [](const Tensor& row) { return softmax(row, {.axis = 1}); }},
      {"log_softmax", segment::log_softmax, [](const Tensor& row) { return log_softmax(row, {.axis = 1}); }},
      {"flip", segment::flip, [](const Tensor& row) { return flip(row, {1}); }},
      {"cumsum", [](const Tensor& x, const Tensor& splits) { return segment::cumsum(x, splits); },
       [](const Tensor& row) { return cumsum(row, {.axis = 1}); }},
      {"cumsum, reverse", [](const Tensor& x, const Tensor& splits) { return segment::cumsum(x, splits, {.reverse = true}); },
       [](const Tensor& row) { return cumsum(row, {.axis = 1, .reverse = true}); }},
      {"cumprod, exclusive", [](const Tensor& x, const Tensor& splits) { return segment::cumprod(x, splits, {.exclusive = true}); },
       [](const Tensor& row) { return cumprod(row, {.axis = 1, .exclusive = true}); }},
      {"cumprod, both",
       [](const Tensor& x, const Tensor& splits) { return segment::cumprod(x, splits, {.reverse = true, .exclusive = true}); },
       [](const Tensor& row) { return cumprod(row, {.axis = 1, .reverse = true, .exclusive = true}); }},
      {"sort", [](const Tensor& x, const Tensor& splits) { return segment::sort(x, splits); },
       [](const Tensor& row) { return sort(row, {.axis = 1}); }},
      {"argsort", [](const Tensor& x, const Tensor& splits) { return segment::argsort(x, splits, {.descending = true}); },
       [](const Tensor& row) { return argsort(row, {.axis = 1, .descending = true}); }},
  };
  return all;
}

TEST(SegmentRows, give_what_each_row_gives_alone_in_every_bit) {
  for (const Lengths& lengths : partitions()) {
    for (const Shape& beside : {Shape{}, Shape{5}, Shape{2, 20}}) {
      Shape shape = {total_of(lengths)};
      for (const Dim& size : beside) shape.push_back(size);
      const Tensor x = random::normal(shape);
      for (const Pair& pair : pairs()) {
        const auto alone = [&](const Tensor& row) { return reshape(pair.dense(expand_dims(row, 0)), row.shape()); };
        EXPECT_TRUE(all_equal(pair.segment(x, splits_for(lengths)), row_by_row(x, lengths, alone, false)))
            << pair.name << " of " << to_string(shape);
      }
    }
  }
}

TEST(SegmentRows, take_no_rows_no_values_and_nothing_beside_them) {
  for (const Pair& pair : pairs()) {
    EXPECT_TRUE(pair.segment(zeros({0}), splits_for({})).shape() == Shape{0}) << pair.name;
    EXPECT_TRUE(pair.segment(zeros({0, 3}), splits_for({0, 0})).shape() == (Shape{0, 3})) << pair.name;
    EXPECT_TRUE(pair.segment(zeros({4, 0}), splits_for({1, 3})).shape() == (Shape{4, 0})) << pair.name;
  }
}

TEST(SegmentSoftmax, does_not_overflow) {
  const Tensor x = tensor({1000.F, 1000.F, -1000.F, 90.F, 89.F}), splits = splits_for({3, 2});
  EXPECT_TRUE(all_close(segment::softmax(x, splits), tensor({0.5F, 0.5F, 0.F, 0.7310586F, 0.2689414F})));
  EXPECT_TRUE(all_close(segment::logsumexp(x, splits), tensor({1000.693147F, 90.3132617F})));
  EXPECT_TRUE(all_close(segment::log_softmax(x, splits), tensor({-0.6931472F, -0.6931472F, -2000.6931F, -0.3132617F, -1.3132617F})));
}

TEST(SegmentRowsGradients, are_those_of_finite_differences) {
  const Tensor splits = splits_for({3, 0, 1, 2});
  for (const Pair& pair : pairs()) {
    if (std::string_view(pair.name) == "argsort") continue;
    SCOPED_TRACE(pair.name);
    const auto f = [&](const std::vector<Tensor>& in) { return pair.segment(in[0], splits); };
    check_gradients(f, {sample({6}, 1)});
    check_gradients(f, {sample({6, 3}, 2)});
    check_second_order(f, {sample({6}, 3)});
  }
}

TEST(SegmentRows, one_trace_serves_every_partition) {
  auto traced = function(
      [](Tensor x, Tensor splits) {
        std::vector<Tensor> results;
        for (const Pair& pair : pairs()) results.push_back(pair.segment(x, splits));
        return results;
      },
      {.name = "rows"});
  for (const Lengths& lengths : partitions()) {
    const Tensor x = random::normal({total_of(lengths), 3});
    const std::vector<Tensor> got = traced(x, splits_for(lengths));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(all_equal(got[i], pairs()[i].segment(x, splits_for(lengths)))) << pairs()[i].name;
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
  EXPECT_EQ(traced.stats().compiles, 1);
}

}  // namespace
}  // namespace anyshape
