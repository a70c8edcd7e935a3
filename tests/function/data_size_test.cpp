// Data-dependent sizes: one trace, compiled, for whatever an op finds.
#include "function/compile.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape::test {
namespace {

std::vector<int64_t> sizes_of(const Tensor& tensor) {
  std::vector<int64_t> sizes;
  for (const Dim& size : tensor.shape()) sizes.push_back(size.value());
  return sizes;
}
using Sizes = std::vector<int64_t>;

TEST(DataSize, boolean_mask_keeps_rows_in_order) {
  const Tensor x = reshape(cast(arange(12), f32), {4, 3});
  EXPECT_EQ(boolean_mask(x, tensor({true, false, false, true})).to_vector<float>(), (std::vector<float>{0, 1, 2, 9, 10, 11}));
  EXPECT_EQ(boolean_mask(x, x > 9.5F).to_vector<float>(), (std::vector<float>{10, 11}));
  EXPECT_EQ(sizes_of(boolean_mask(x, tensor({false, false, false, false}))), (Sizes{0, 3}));
}

TEST(DataSize, parts_of_known_and_of_found_size_are_joined) {
  const auto joined = [](const Tensor& x, const Tensor& keep) { return concat({exp(x), tanh(boolean_mask(x, keep))}); };
  auto traced = function([&](Tensor x, Tensor keep) { return joined(x, keep); });
  for (const int64_t rows : {4, 0, 70}) {
    const Tensor x = sin(reshape(cast(arange(rows * 20), f32), {rows, 20})), keep = arange(rows) % 3 == 0;
    EXPECT_TRUE(all_equal(traced(x, keep), joined(x, keep))) << rows;
  }
}

TEST(DataSize, unique_sorts_counts_and_leads_back) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Unique found = unique(tensor({3.0F, nan, 1.0F, 3.0F, nan, -1.0F}), {.return_inverse = true, .return_counts = true});
  const std::vector<float> values = found.values.to_vector<float>();
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ((std::vector<float>(values.begin(), values.begin() + 3)), (std::vector<float>{-1, 1, 3}));
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(found.inverse.to_vector<int32_t>(), (std::vector<int32_t>{2, 3, 1, 2, 3, 0}));
  EXPECT_EQ(found.counts.to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 2, 2}));
  EXPECT_EQ(sizes_of(unique(zeros({0, 3}))), (Sizes{0}));
}

TEST(DataSize, one_trace_serves_every_count) {
  const auto f = function([](Tensor x) { return sum(boolean_mask(x, x > 0.0F) * 2.0F); }, {.name = "positive"});
  EXPECT_EQ(f(tensor({1.0F, -1.0F, 3.0F})).item<float>(), 8.0F);
  EXPECT_EQ(f(tensor({-1.0F, -1.0F})).item<float>(), 0.0F);
  EXPECT_EQ(f(zeros({0})).item<float>(), 0.0F);
  EXPECT_EQ(f(ones({50000})).item<float>(), 100000.0F);
  EXPECT_EQ(f.stats().traces, 1);
  EXPECT_EQ(f.stats().compiles, 1);
}

TEST(DataSize, what_follows_stays_in_the_trace) {
  // Two sizes in one graph, a product over one of them, gradients through both.
  const auto f = function(
      [](Tensor x, Tensor w) {
        GradientTape tape;
        tape.watch(x);
        tape.watch(w);
        const Tensor rows = boolean_mask(x, sum(x, {.axes = {1}}) > 0.0F);
        const Tensor loss = sum(matmul(rows, w) * 0.5F) + sum(unique(x) * 2.0F);
        std::vector<Tensor> results = tape.gradient(loss, std::vector<Tensor>{x, w});
        results.push_back(loss);
        return results;
      },
      {.name = "follows"});
  const auto expect = [&](const Tensor& x, const std::vector<float>& dx, const std::vector<float>& dw, float value) {
    const std::vector<Tensor> got = f(x, ones({2, 3}));
    EXPECT_EQ(got[0].to_vector<float>(), dx);
    EXPECT_EQ(got[1].to_vector<float>(), dw);
    EXPECT_FLOAT_EQ(got[2].item<float>(), value);
  };
  expect(tensor({{1.0F, 2.0F}, {-5.0F, 1.0F}}), {3.5F, 3.5F, 2, 0}, {0.5F, 0.5F, 0.5F, 1, 1, 1}, 0.5F);
  expect(tensor({{-1.0F, -2.0F}}), {2, 2}, {0, 0, 0, 0, 0, 0}, -6);
  expect(zeros({0, 2}), {}, {0, 0, 0, 0, 0, 0}, 0);
  EXPECT_EQ(f.stats().traces, 1);
}

TEST(DataSize, equal_calls_share_a_size_and_others_are_checked_on_the_way) {
  Variable seen(zeros({}), {.name = "seen"});
  const auto f = function(
      [&](Tensor x, Tensor y) {
        seen.assign_add(1.0F);
        const Tensor mask = x > 0.0F;
        const Tensor left = boolean_mask(x, mask), twice = boolean_mask(x * 2.0F, mask), right = boolean_mask(y, y > 0.0F);
        return left + twice + right;
      },
      {.name = "joined"});
  EXPECT_EQ(f(tensor({1.0F, -1.0F, 3.0F}), tensor({-1.0F, 5.0F, 6.0F})).to_vector<float>(), (std::vector<float>{8, 15}));
  EXPECT_EQ(f(tensor({1.0F}), tensor({5.0F, 6.0F})).to_vector<float>(), (std::vector<float>{8, 9}));
  const std::string text = text_of<ShapeError>([&] { f(tensor({1.0F, 2.0F}), tensor({1.0F, 2.0F, 3.0F})); });
  EXPECT_NE(text.find("add: shapes do not broadcast"), std::string::npos) << text;
  EXPECT_NE(text.find("boolean_mask0 = 2, boolean_mask2 = 3"), std::string::npos) << text;
  EXPECT_NE(text.find("In function \"joined\"."), std::string::npos) << text;
  EXPECT_EQ(seen.read().item<float>(), 2.0F);  // the call that failed has changed nothing
  EXPECT_EQ(f.stats().failed_checks, 1);
  EXPECT_EQ(f.stats().traces, 1);
}

TEST(DataSize, the_ledger_and_the_size_itself_tell) {
  const auto f = function([](Tensor x) { return size(unique(x), 0); }, {.name = "count"});
  EXPECT_EQ(f(tensor({3, 1, 3})).item<int64_t>(), 2);
  EXPECT_EQ(f(tensor({3, 1, 2})).item<int64_t>(), 3);
  EXPECT_EQ(f.traces()[0].data_sizes, (std::vector<std::string>{"unique0 <= a0"}));
  EXPECT_NE(f.report().find("unique0 <= a0"), std::string::npos) << f.report();
  EXPECT_NE(f.traces()[0].graph.find("makes unique0"), std::string::npos) << f.traces()[0].graph;
}

TEST(DataSize, nothing_is_decided_by_it_while_tracing) {
  const auto f = function([](Tensor x) { return x * (unique(x).shape()[0] == 2 ? 1.0F : 2.0F); }, {.name = "asks"});
  const std::string text = text_of<TraceError>([&] { f(ones({2})); });
  EXPECT_NE(text.find("the size \"unique0\" depends on data"), std::string::npos) << text;
  EXPECT_NE(text.find("as::size"), std::string::npos) << text;
}

// Regions use the sizes of the graph around them, also where nothing else needs the node that makes one.
TEST(DataSize, branches_and_loops_know_it) {
  const auto f = function(
      [](Tensor x) {
        const Tensor kept = boolean_mask(x, x > 0.0F);
        const Tensor total = scan([](Tensor sum, Tensor each) { return std::pair(sum + each, sum); }, zeros({}), kept).first;
        const Dim count = unique(x).shape()[0];
        return total + cond(total > 5.0F, [&] { return sum(broadcast_to(Tensor(1.0F), {count})); }, [&] { return sum(kept * 0.0F); });
      },
      {.name = "regions"});
  EXPECT_EQ(f(tensor({1.0F, -1.0F, 3.0F})).item<float>(), 4.0F);
  EXPECT_EQ(f(tensor({4.0F, -1.0F, 3.0F, 3.0F})).item<float>(), 13.0F);
  EXPECT_EQ(f(zeros({0})).item<float>(), 0.0F);
  EXPECT_EQ(f.stats().traces, 1);
}

// What a region hands out is as large as its size says, not as the memory it was found in.
TEST(DataSize, regions_hand_it_out) {
  const auto branch = function(
      [](Tensor x, Tensor first) {
        const Tensor kept = boolean_mask(x, x < 3.0F);
        return cond(first, [&] { return kept; }, [&] { return kept * 2.0F; });
      },
      {.name = "branch"});
  const Tensor x = arange(300'000, {.dtype = Dtype::f32});
  EXPECT_EQ(branch(x, ones({}) > 0.0F).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(branch(x, ones({}) < 0.0F).to_vector<float>(), (std::vector<float>{0, 2, 4}));
  const auto loop = function(
      [](Tensor x, Tensor xs) {
        const Tensor kept = boolean_mask(x, x < 2.0F);
        return scan([&](Tensor sum, Tensor each) { return std::pair(sum + each, kept); }, zeros({4}), xs).second;
      },
      {.name = "loop"});
  EXPECT_EQ(loop(x, ones({3, 4})).to_vector<float>(), (std::vector<float>{0, 1, 0, 1, 0, 1}));
}

TEST(DataSize, is_not_made_inside_a_region) {
  const auto f =
      function([](Tensor x) { return cond(sum(x) > 0.0F, [&] { return sum(boolean_mask(x, x > 0.0F)); }, [&] { return sum(x); }); },
               {.name = "inside"});
  const std::string text = text_of<TraceError>([&] { f(ones({2})); });
  EXPECT_NE(text.find("boolean_mask: the size of the result depends on data; inside as::cond"), std::string::npos) << text;
  EXPECT_NE(text.find("Compute it outside"), std::string::npos) << text;
}

TEST(DataSize, memory_after_the_size_is_known_is_what_the_size_needs) {
  // The square of the bound would be 36 TB.
  const auto f = function(
      [](Tensor x) {
        const Tensor y = boolean_mask(x, x > 0.0F);
        return sum(expand_dims(y, 0) * expand_dims(y, 1));
      },
      {.name = "pairs"});
  EXPECT_EQ(f(concat({zeros({3'000'000}), ones({2})})).item<float>(), 4.0F);
}

}  // namespace
}  // namespace anyshape::test
