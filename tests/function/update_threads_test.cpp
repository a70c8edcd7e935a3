// Variables that are updated in place: only what nobody else holds is written over, so a value once read never changes, an error leaves every
// variable as it was, and readers beside a training step see whole steps.
#include "function/on_threads.h"
#include "function/small_network.h"
#include "graph/stateful.h"
#include "support/text_of.h"
#include "tensor/host_data.h"
#include "tensor/tensor_impl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace anyshape::test {
namespace {

const void* memory_of(const Variable& variable) { return host_data(variable.state()->value()); }

TEST(UpdateInPlace, a_variable_that_nobody_else_holds_keeps_its_memory) {
  const Variable w(ones({5000}));
  auto step = function([&](Tensor x) { w.assign_sub(x * 0.5f); }, {.name = "step"});
  step(ones({5000}));
  const void* const memory = memory_of(w);
  for (int i = 0; i < 3; ++i) step(ones({5000}));
  EXPECT_EQ(memory_of(w), memory);
  EXPECT_TRUE(all_equal(w.read(), full({5000}, -1.0f)));
}

TEST(UpdateInPlace, a_value_that_was_read_never_changes) {
  const Variable w(ones({3, 100}));
  auto step = function([&](Tensor x) { w.assign_add(x); }, {.name = "step"});
  step(ones({3, 100}));
  const Tensor snapshot = w.read();
  const Tensor view = reshape(w.read(), {300});
  step(ones({3, 100}));
  EXPECT_TRUE(all_equal(snapshot, full({3, 100}, 2.0f)));
  EXPECT_TRUE(all_equal(view, full({300}, 2.0f)));
  EXPECT_TRUE(all_equal(w.read(), full({3, 100}, 3.0f)));
}

TEST(UpdateInPlace, results_of_a_step_never_change) {
  const Variable w(ones({100}));
  auto both = function(
      [&](Tensor x) {
        const Tensor old = w.read();
        w.assign_add(x);
        return std::tuple(old, w.read());
      },
      {.name = "both"});
  auto next = function(
      [&](Tensor x) {
        w.assign_add(x);
        return w.read();
      },
      {.name = "next"});
  const auto [old1, new1] = both(ones({100}));
  const auto [old2, new2] = both(ones({100}));
  const Tensor third = next(ones({100})), fourth = next(ones({100}));
  const std::vector<Tensor> values = {old1, new1, old2, new2, third, fourth, w.read()};
  const std::vector<float> expected = {1, 2, 2, 3, 4, 5, 5};
  for (size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(all_equal(values[i], full({100}, expected[i]))) << i;
}

TEST(UpdateInPlace, variables_that_were_given_one_tensor_stay_apart) {
  const Tensor initial = ones({64});
  const Variable a(initial), b(initial);
  auto step = function([&](Tensor x) { a.assign_add(x); }, {.name = "step"});
  step(ones({64}));
  step(ones({64}));
  EXPECT_TRUE(all_equal(a.read(), full({64}, 3.0f)));
  EXPECT_TRUE(all_equal(b.read(), ones({64})));
  EXPECT_TRUE(all_equal(initial, ones({64})));
}

TEST(UpdateInPlace, variables_can_change_places_and_follow_each_other) {
  const Variable a(full({8}, 1.0f)), b(full({8}, 2.0f));
  auto exchange = function(
      [&](Tensor x) {
        const Tensor old = a.read();
        a.assign(b.read());
        b.assign(old + 0.0f * x);
      },
      {.name = "exchange"});
  for (int i = 0; i < 3; ++i) exchange(ones({8}));
  EXPECT_TRUE(all_equal(a.read(), full({8}, 2.0f)));
  EXPECT_TRUE(all_equal(b.read(), full({8}, 1.0f)));
  auto follow = function(
      [&](Tensor x) {
        a.assign(a.read() + x);
        b.assign(a.read() * 10.0f);
      },
      {.name = "follow"});
  for (int i = 0; i < 3; ++i) follow(ones({8}));
  EXPECT_TRUE(all_equal(a.read(), full({8}, 5.0f)));
  EXPECT_TRUE(all_equal(b.read(), full({8}, 50.0f)));
}

TEST(UpdateInPlace, other_places_of_the_old_value_are_read_before_it_changes) {
  const Variable w(tensor({1.f, 2.f, 3.f, 4.f}));
  auto turn = function([&](Tensor x) { w.assign(flip(w.read()) + x); }, {.name = "turn"});
  turn(zeros({4}));
  turn(ones({4}));
  EXPECT_EQ(w.read().to_vector<float>(), (std::vector<float>{2, 3, 4, 5}));
  auto centered = function([&](Tensor x) { w.assign(w.read() - mean(w.read()) + x); }, {.name = "centered"});
  centered(zeros({4}));
  centered(ones({4}));
  EXPECT_EQ(w.read().to_vector<float>(), (std::vector<float>{-0.5f, 0.5f, 1.5f, 2.5f}));
}

TEST(UpdateInPlace, an_error_leaves_every_variable_as_it_was) {
  const Variable table(ones({4, 3})), count(zeros({1}));
  auto step = function(
      [&](Tensor ids) {
        count.assign_add(ones({1}));
        const Tensor rows = take(table.read(), ids, {.axis = 0});
        table.assign_sub(sum(rows, {.axes = {0}, .keep_dims = true}) * 0.5f);
        return rows;
      },
      {.name = "step"});
  step(tensor({0, 1}));
  const std::vector<float> before = table.read().to_vector<float>();
  EXPECT_NE(text_of<DataError>([&] { step(tensor({0, 4})); }).find("index 4"), std::string::npos);
  EXPECT_EQ(table.read().to_vector<float>(), before);
  EXPECT_EQ(count.read().item<float>(), 1);
}

TEST(UpdateInPlace, a_step_without_memory_leaves_every_variable_as_it_was) {
  std::mt19937 host(3);
  const SmallNetwork network;
  auto step = network.compiled_step();
  const Tensor x = random_tensor(host, {64, SmallNetwork::inputs}, f32), labels = random_labels(host, 64, SmallNetwork::classes);
  step(x, labels);
  const std::vector<float> before = network.kernel1.read().to_vector<float>();
  bool failed = true;
  for (int64_t n = 1; failed; ++n) {
    const Tensor held = n % 2 == 0 ? network.kernel2.read() : Tensor();  // it gets fresh memory then
    fail_allocation_after(n);
    try {
      step(x, labels);
      failed = false;
    } catch (const OutOfMemory&) {
      EXPECT_EQ(network.kernel1.read().to_vector<float>(), before) << n;
    }
    fail_allocation_after(0);
  }
  EXPECT_NE(network.kernel1.read().to_vector<float>(), before);
}

TEST(UpdateInPlace, gives_the_bits_of_fresh_memory) {
  std::mt19937 host(5);
  const Tensor x = random_tensor(host, {33, SmallNetwork::inputs}, f32), labels = random_labels(host, 33, SmallNetwork::classes);
  const SmallNetwork in_place, fresh;
  auto step = in_place.compiled_step(), other = fresh.compiled_step();
  for (int i = 0; i < 5; ++i) {
    step(x, labels);
    const std::vector<Tensor> held = fresh.values();
    other(x, labels);
  }
  for (size_t i = 0; i < in_place.values().size(); ++i) EXPECT_TRUE(all_equal(in_place.values()[i], fresh.values()[i])) << i;
}

// Elements of one variable, and two variables of one step, are always equal: who sees a half-written step sees different ones.
TEST(UpdateThreads, readers_beside_a_step_see_whole_steps) {
  const int64_t size = 40'000;
  const Variable a(zeros({size})), b(zeros({size}));
  auto step = function(
      [&](Tensor x) {
        a.assign_add(x);
        b.assign_add(x);
      },
      {.name = "step"});
  auto spread = function(
      [&](Tensor x) {
        const Tensor both = concat({a.read(), b.read()}, {.axis = 0}) + x;
        return std::tuple(max(both), min(both));
      },
      {.name = "spread"});
  step(ones({size}));
  spread(zeros({1}));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      float last = 0;
      while (!done) {
        if (reader == 0) {
          const auto [most, least] = spread(zeros({1}));
          EXPECT_EQ(most.item<float>(), least.item<float>());
          EXPECT_GE(most.item<float>(), last);
          last = most.item<float>();
        } else {
          const Tensor held = a.read();
          const float first = max(held).item<float>();
          std::this_thread::yield();
          EXPECT_EQ(min(held).item<float>(), first);
        }
      }
    });
  }
  for (int i = 0; i < 200; ++i) step(ones({size}));
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(all_equal(a.read(), full({size}, 201.0f)));
  EXPECT_TRUE(all_equal(b.read(), full({size}, 201.0f)));
}

TEST(UpdateThreads, steps_that_share_variables_in_another_order_end) {
  const Variable a(zeros({100})), b(zeros({100}));
  auto forwards = function([&](Tensor x) { a.assign_add(x), b.assign_add(x); }, {.name = "forwards"});
  auto backwards = function([&](Tensor x) { b.assign_sub(x), a.assign_sub(x); }, {.name = "backwards"});
  on_threads([&](int thread) {
    for (int i = 0; i < 100; ++i) thread % 2 == 0 ? forwards(ones({100})) : backwards(ones({100}));
  });
  const std::vector<float> last = a.read().to_vector<float>();
  EXPECT_EQ(last, std::vector<float>(100, last[0])) << "one step wins, or another; none is seen in part";
  EXPECT_EQ(b.read().to_vector<float>(), last);
}

}  // namespace
}  // namespace anyshape::test
