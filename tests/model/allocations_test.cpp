// A call after the first few asks nobody for memory: not the system for blocks, and, where the sizes are small, not even the C library for
// handles. Over ten thousand sizes, memory is what the largest needs.
#include "support/resident_memory.h"
#include "support/sanitized.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

constinit thread_local int64_t requests = 0;  // to the C library, of the thread that calls: oneDNN generates code on one of its own

}  // namespace

#ifndef ANYSHAPE_SANITIZED
// In the program, these come before the C library's own.
extern "C" {
void* __libc_malloc(size_t bytes);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t bytes);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, size_t bytes);        // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t bytes);  // NOLINT(bugprone-reserved-identifier)

[[gnu::visibility("default")]] void* malloc(size_t bytes) noexcept {
  ++requests;
  return __libc_malloc(bytes);
}
[[gnu::visibility("default")]] void* calloc(size_t count, size_t bytes) noexcept {
  ++requests;
  return __libc_calloc(count, bytes);
}
[[gnu::visibility("default")]] void* realloc(void* block, size_t bytes) noexcept {
  ++requests;
  return __libc_realloc(block, bytes);
}
[[gnu::visibility("default")]] void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  ++requests;
  return __libc_memalign(alignment, bytes);
}
}
#endif

namespace anyshape::test {
namespace {

struct Asked {
  int64_t of_system = 0, of_library = 0;
};

// What a thousand calls ask for after some to warm up.
template <class Call>
Asked asked_by(const Call& call, int calls = 1000) {
  for (int i = 0; i < 20; ++i) call(i);
  const int64_t system = memory_use().system_allocations, library = requests;
  for (int i = 0; i < calls; ++i) call(i);
  return {memory_use().system_allocations - system, requests - library};
}

TEST(Allocations, counting_counts) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer has an allocator of its own";
  const int64_t before = requests;
  const auto number = std::make_unique<int>(1);
  EXPECT_EQ(requests, before + *number);
}

TEST(Allocations, a_small_call_asks_for_nothing) {
  auto total = function([](Tensor x) { return sum(x); }, {.name = "total"});
  const Tensor x = ones({10, 20});
  const Asked asked = asked_by([&](int) { total(x); });
  EXPECT_EQ(asked.of_system, 0);
  EXPECT_TRUE(is_sanitized || asked.of_library == 0) << asked.of_library;
}

TEST(Allocations, a_call_by_signature_that_reads_variables_asks_for_nothing) {
  const Variable w(ones({20, 4}));
  auto scores = function([&](Tensor x, Tensor b) { return std::pair(tanh(matmul(x, w)) + b, x * 2.0f); },
                         {.name = "scores", .signature = {spec(f32, {dim("rows"), 20}), spec(f32, {4})}});
  const Tensor x[] = {ones({10, 20}), ones({3, 20})};
  const Tensor b = ones({4});
  const Asked asked = asked_by([&](int i) { scores(x[i % 2], b); });
  EXPECT_EQ(asked.of_system, 0);
  EXPECT_TRUE(is_sanitized || asked.of_library == 0) << asked.of_library;
}

TEST(Allocations, a_ragged_call_asks_the_system_for_nothing) {
  auto lengths = function([](Tensor x) { return sum(x * 2.0f, {.axes = {1}}); }, {.name = "lengths"});
  const Tensor x[] = {ragged({{1.f, 2.f, 3.f}, {4.f}}), ragged({{1.f}, {2.f, 5.f}, {3.f}})};
  const Asked asked = asked_by([&](int i) { lengths(x[i % 2]); });
  EXPECT_EQ(asked.of_system, 0);
  EXPECT_TRUE(is_sanitized || asked.of_library == 0) << asked.of_library;
}

Tensor labels(int64_t rows) { return random::integers({rows}, {.low = 0, .high = 2}); }

TEST(Allocations, a_training_step_asks_the_system_for_nothing) {
  Model model = Sequential(Dense(32, {.activation = relu}), Dense(2));
  model.compile({.optimizer = adam(), .loss = sparse_categorical_crossentropy({.from_logits = true})});
  const Batch batches[] = {{.x = {random::normal({64, 20})}, .y = {labels(64)}}, {.x = {random::normal({31, 20})}, .y = {labels(31)}}};
  model.train_on_batch(batches[0].x[0], batches[0].y[0]);
  const auto step = model.train_step();
  const Optimizer optimizer = model.optimizer();
  const Asked asked = asked_by([&](int i) { step(model, optimizer, batches[i % 2]); });
  EXPECT_EQ(asked.of_system, 0);
  RecordProperty("library", static_cast<int>(asked.of_library));
}

TEST(Allocations, a_recurrent_training_step_asks_the_system_for_nothing) {
  Model model = Sequential(Embedding(50, 8), LSTM(16), Dense(2));
  model.compile({.optimizer = adam(), .loss = sparse_categorical_crossentropy({.from_logits = true})});
  const auto ids = [](int64_t steps) { return random::integers({20, steps}, {.low = 0, .high = 50}); };
  const Batch batches[] = {{.x = {ids(12)}, .y = {labels(20)}}, {.x = {ids(7)}, .y = {labels(20)}}};
  model.train_on_batch(batches[0].x[0], batches[0].y[0]);
  const auto step = model.train_step();
  const Optimizer optimizer = model.optimizer();
  const Asked asked = asked_by([&](int i) { step(model, optimizer, batches[i % 2]); }, is_sanitized ? 50 : 1000);
  EXPECT_EQ(asked.of_system, 0);
}

// Growth of the allocator and of the process over calls of sizes 1..largest in random order, after the largest was seen.
template <class Call>
void expect_flat(int64_t largest, const Call& call) {
  for (int i = 0; i < 3; ++i) call(largest);
  std::vector<int64_t> sizes(static_cast<size_t>(is_sanitized ? largest / 20 : largest));
  std::iota(sizes.begin(), sizes.end(), 1);
  std::mt19937 host(1);
  std::ranges::shuffle(sizes, host);
  constexpr int64_t mebibyte = 1 << 20;
  const MemoryUse before = memory_use();
  const int64_t growth = resident_growth(is_sanitized ? INT64_MAX : mebibyte, [&] {
    for (const int64_t size : sizes) call(size);
  });
  const MemoryUse after = memory_use();
  EXPECT_LE(after.live_bytes + after.cached_bytes - before.live_bytes - before.cached_bytes, mebibyte);
  if (!is_sanitized) {
    EXPECT_LE(growth, mebibyte);
  }
}

TEST(Memory, ten_thousand_sizes_of_a_small_function_need_what_the_largest_needs) {
  auto scaled =
      function([](Tensor x) { return std::pair(matmul(x, ones({64, 64})) * 2.0f, sum(exp(x), {.axes = {0}})); }, {.name = "scaled"});
  const Tensor all = ones({10'000, 64});
  trim_memory();
  expect_flat(10'000, [&](int64_t rows) { scaled(slice(all, {{0, rows}})); });
  EXPECT_EQ(scaled.stats().traces, 1);
}

TEST(Memory, ten_thousand_sizes_of_a_training_step_need_what_the_largest_needs) {
  Model model = Sequential(Dense(16, {.activation = relu}), Dense(2));
  model.compile({.optimizer = adam(), .loss = sparse_categorical_crossentropy({.from_logits = true})});
  const Tensor x = random::normal({10'000, 8}), y = labels(10'000);
  model.train_on_batch(x, y);
  const auto step = model.train_step();
  const Optimizer optimizer = model.optimizer();
  trim_memory();
  expect_flat(10'000, [&](int64_t rows) { step(model, optimizer, Batch{.x = {slice(x, {{0, rows}})}, .y = {slice(y, {{0, rows}})}}); });
}

}  // namespace
}  // namespace anyshape::test
