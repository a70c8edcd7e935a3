// ResNet-50 on images of many sizes: what a size costs besides its work.
#include "check/test_share.h"
#include "support/resident_memory.h"
#include "support/sanitized.h"

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

// What a page costs at its first touch is paid once, at the largest size: smaller images of any proportions find their memory touched.
TEST(AnySizeNetworks, resnet50_meets_no_fresh_memory_at_new_sizes_below_the_largest) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer touches memory of its own";
  Model model = applications::resnet50({.classes = 10});
  model.compile({.optimizer = sgd({.learning_rate = 0.001F, .momentum = 0.9F}), .loss = "sparse_categorical_crossentropy"});
  const auto train = [&](int64_t height, int64_t width) {
    const Tensor images = random::uniform({4, height, width, 3}), classes = random::integers({4}, {.high = 10});
    const int64_t before = resident_bytes();
    model.train_on_batch(images, classes);
    return resident_bytes() - before;
  };
  train(96, 96);
  train(96, 96);
  int64_t fresh = 0;
  for (const auto& [height, width] : Sizes{{64, 64}, {56, 120}, {88, 96}, {33, 40}, {72, 80}}) fresh += train(height, width);
  EXPECT_LE(fresh, int64_t{4} << 20) << "two large pages in five steps";
}

}  // namespace
}  // namespace anyshape::test
