// Models that several threads use from their first call on: built once, compiled once, and the numbers of one thread.
#include "function/on_threads.h"
#include "model/model_state.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace anyshape {
namespace {

using test::on_threads;
using test::thread_count;

class CountedScale : public Layer {
 public:
  explicit CountedScale(std::atomic<int>& builds) : builds_(&builds) {}
  void build(const Shape& input) override {
    ++*builds_;
    scale_ = weight("scale", {input[-1]}, {.initializer = "ones"});
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x * scale_; }

 private:
  std::atomic<int>* builds_;
  Variable scale_;
};

void expect_one_result(const std::array<Tensor, thread_count>& results) {
  for (const Tensor& each : results) EXPECT_TRUE(all_equal(each, results[0]));
}

TEST(ModelThreads, the_first_predict_of_many_threads_builds_and_compiles_once) {
  std::atomic<int> builds{0};
  const Model model = Sequential(Dense(5, {.activation = "relu"}), CountedScale(builds), Dense(2));
  const Tensor x = random::normal({9, 3});
  std::array<Tensor, thread_count> results;
  on_threads([&](int thread) { results[static_cast<size_t>(thread)] = model.predict(x, {.batch_size = 4}); });
  expect_one_result(results);
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(model.variables().size(), 5U);
  EXPECT_EQ(results[0].shape(), (Shape{9, 2}));
  EXPECT_TRUE(all_close(results[0], model(x), {.absolute = 1e-5}));
}

TEST(ModelThreads, the_first_predict_of_a_compiled_model_makes_its_steps_once) {
  Model model = Sequential(Dense(4), Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = random::normal({6, 3}), y = random::normal({6, 1});
  std::array<Tensor, thread_count> results;
  on_threads([&](int thread) { results[static_cast<size_t>(thread)] = model.predict(x); });
  expect_one_result(results);
  model.fit(x, y, {.verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(ModelThreads, the_first_call_of_many_threads_builds_once) {
  std::atomic<int> builds{0};
  const Model model = Sequential(Dense(5), CountedScale(builds), Sequential(Dense(3), CountedScale(builds)));
  auto call = function([&](Tensor x) { return model(x); }, {.name = "call"});
  const Tensor x = random::normal({4, 3});
  std::array<Tensor, thread_count> results;
  on_threads([&](int thread) { results[static_cast<size_t>(thread)] = thread % 2 == 0 ? model(x) : call(x); });
  for (const Tensor& each : results) EXPECT_TRUE(all_close(each, results[0], {.absolute = 1e-5}));
  EXPECT_EQ(builds, 2);
  EXPECT_EQ(model.variables().size(), 6U);
}

TEST(ModelThreads, a_first_call_that_fails_takes_back_nothing_that_another_thread_uses) {
  for (int round = 0; round < 20; ++round) {
    const Dense shared(4);
    const Model good = Sequential(shared, Dense(2)), bad = Sequential(shared, Reshape({7}));
    const Tensor x = ones({2, 3});
    std::array<Tensor, thread_count> results;
    on_threads([&](int thread) {
      if (thread % 2 == 0) {
        results[static_cast<size_t>(thread)] = good(x);
      } else {
        EXPECT_THROW(bad(x), ShapeError);
      }
    });
    const Tensor after = good(x);
    for (int thread = 0; thread < thread_count; thread += 2)
      EXPECT_EQ(results[static_cast<size_t>(thread)].shape(), after.shape()) << "round " << round;
    EXPECT_EQ(good.variables().size(), 4U);
  }
}

// Builds when another layer has been built by another thread: a lock over all layers would never let it. Then it gives up after a minute.
class Waiting : public Layer {
 public:
  Waiting(std::atomic<bool>& begun, const std::atomic<int>& builds) : begun_(&begun), builds_(&builds) {}
  void build(const Shape&) override {
    *begun_ = true;
    for (int i = 0; i < 12'000 && *builds_ == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(*builds_, 1) << "the other layer was not built meanwhile";
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x; }

 private:
  std::atomic<bool>* begun_;
  const std::atomic<int>* builds_;
};

TEST(ModelThreads, layers_are_built_beside_each_other_by_threads) {
  std::atomic<bool> begun{false};
  std::atomic<int> builds{0};
  const Sequential waiting{Waiting(begun, builds)}, other{CountedScale(builds)};
  std::thread first([&] { waiting(ones({2, 3})); });
  while (!begun) std::this_thread::yield();
  other(ones({2, 3}));
  first.join();
  EXPECT_EQ(builds, 1);
}

}  // namespace
}  // namespace anyshape
