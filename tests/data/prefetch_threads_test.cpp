// Elements made ahead on a thread of their own: the same ones, errors in their place, no wait at the end.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <atomic>

namespace anyshape {
namespace {

std::vector<float> values_of(const Dataset& data) {
  std::vector<float> values;
  for (const Example& example : data) {
    for (const float each : example.x.single().to_vector<float>()) values.push_back(each);
  }
  return values;
}

TEST(Prefetch, gives_the_same_elements_on_threads_of_their_own) {
  const Dataset data = Dataset::from(arange(100)).map([](const Example& e) { return Example{.x = cast(e.x.single(), f32) * 2}; });
  EXPECT_EQ(values_of(data.batch(7).prefetch(3)), values_of(data.batch(7)));
  EXPECT_EQ(values_of(data.prefetch(1).batch(7).prefetch(4)), values_of(data.batch(7)));
}

TEST(Prefetch, draws_random_numbers_by_the_seed_whatever_other_threads_draw) {
  const Dataset data = Dataset::from(arange(20)).map([](const Example&) { return Example{.x = random::normal({2})}; }).prefetch(4);
  random::set_seed(5);
  const std::vector<float> first = values_of(data);
  random::set_seed(5);
  std::vector<float> second;
  for (const Example& example : data) {
    random::normal({3});
    for (const float each : example.x.single().to_vector<float>()) second.push_back(each);
  }
  EXPECT_EQ(first, second);
}

TEST(Prefetch, gives_the_elements_before_an_error_then_the_error_on_threads) {
  const Dataset data = Dataset::from(arange(10))
                           .map([](const Example& e) {
                             if (e.x.single().item<int>() == 6) throw std::runtime_error("boom");
                             return e;
                           })
                           .prefetch(2);
  int seen = 0;
  EXPECT_EQ(test::text_of<DataError>([&] {
              for (const Example& example : data) {
                EXPECT_EQ(example.x.single().item<int>(), seen);
                ++seen;
              }
            }),
            "Dataset::map: element 6: boom");
  EXPECT_EQ(seen, 6);
}

TEST(Prefetch, ends_its_threads_where_an_iterator_is_dropped) {
  const auto made = std::make_shared<std::atomic<int>>(0);
  {
    const Dataset data = Dataset::from(arange(1000))
                             .map([made](const Example& e) {
                               ++*made;
                               return e;
                             })
                             .prefetch(3);
    Dataset::Iterator iterator = data.begin();
    ++iterator;
  }
  const int at_the_end = *made;
  EXPECT_LE(at_the_end, 7);
  EXPECT_EQ(made.use_count(), 1);
}

TEST(Prefetch, trains_on_threads_of_its_own) {
  random::set_seed(1);
  const Tensor x = random::normal({64, 5}), y = random::normal({64, 1});
  Model model = Sequential(Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const History history =
      model.fit(Dataset::from(x, y).shuffle({.buffer = 64, .seed = 1}).batch(8).prefetch(2), {.epochs = 3, .verbose = Verbose::Silent});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
}

}  // namespace
}  // namespace anyshape
