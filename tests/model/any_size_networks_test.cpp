// ResNet-50 on images of many sizes: what a size costs besides its work.
#include "check/test_share.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace anyshape::test {
namespace {

using Sizes = std::vector<std::pair<int64_t, int64_t>>;

Sizes distinct_sizes(int all, int64_t most) {
  const auto count = static_cast<size_t>(check::share_of(all, 5));
  std::mt19937 random(7);
  std::set<std::pair<int64_t, int64_t>> seen;
  Sizes sizes;
  while (sizes.size() < count) {
    const std::pair<int64_t, int64_t> size{32 + static_cast<int64_t>(random() % static_cast<uint32_t>(most - 31)),
                                           32 + static_cast<int64_t>(random() % static_cast<uint32_t>(most - 31))};
    if (seen.insert(size).second) sizes.push_back(size);
  }
  return sizes;
}

TEST(AnySizeNetworks, resnet50_trains_on_fifty_sizes_by_one_trace) {
  Model model = applications::resnet50({.classes = 10});
  model.compile({.optimizer = sgd({.learning_rate = 0.001F}), .loss = "sparse_categorical_crossentropy"});
  for (const auto& [height, width] : distinct_sizes(50, 64))
    model.train_on_batch(random::uniform({1, height, width, 3}), random::integers({1}, {.high = 10}));
  const auto stats = model.train_step().stats();
  EXPECT_EQ(stats.traces, 1);
  EXPECT_EQ(stats.compiles, 1);
  EXPECT_EQ(stats.interpreted_groups, 0);
}

// The second time around the sizes find all that they need: nothing is kept for each of them.
TEST(AnySizeNetworks, resnet50_keeps_nothing_for_a_size) {
  const Model model = applications::resnet50({.classes = 10});
  auto predict = function([&](Tensor x) { return model(x, {.training = false}); }, {.name = "predict"});
  const Sizes sizes = distinct_sizes(200, 96);
  const auto pass = [&] {
    for (const auto& [height, width] : sizes) EXPECT_EQ(predict(random::uniform({1, height, width, 3})).shape(), Shape({1, 10}));
    const MemoryUse use = memory_use();
    return use.live_bytes + use.cached_bytes;
  };
  pass();
  const int64_t before = pass(), asked = memory_use().system_allocations;
  EXPECT_LE(pass(), before);
  EXPECT_EQ(memory_use().system_allocations, asked);
  EXPECT_EQ(predict.stats().traces, 1);
  EXPECT_EQ(predict.stats().compiles, 1);
}

}  // namespace
}  // namespace anyshape::test
