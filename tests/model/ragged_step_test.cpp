// A training step on rows of unequal length: one trace and one compile for all batches, and memory by real elements.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace anyshape::test {
namespace {

struct TextSizes {
  int64_t vocabulary, embed, units;
};

Model text_model(const TextSizes& sizes) {
  Sequential model(Embedding(sizes.vocabulary, sizes.embed), LSTM(sizes.units), Dense(1));
  model.build({dim("batch"), dim("time")});
  model.compile({.optimizer = adam(), .loss = binary_crossentropy({.from_logits = true})});
  return model;
}

Batch text_batch(const std::vector<int64_t>& lengths, int64_t vocabulary) {
  const auto rows = static_cast<int64_t>(lengths.size());
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  const Tensor ids = random::integers({total}, {.low = 1, .high = vocabulary});
  const Tensor labels = random::bernoulli({rows, 1}, {.dtype = Dtype::f32});
  return {.x = {ragged_from_lengths(ids, tensor(lengths, {rows}))}, .y = {labels}};
}

TEST(RaggedStep, has_one_trace_and_one_compile_over_200_random_batches) {
  const TextSizes sizes{.vocabulary = 10'000, .embed = 64, .units = 128};
  Model model = text_model(sizes);
  auto step = model.train_step();
  std::mt19937 random(7);
  for (int number = 0; number < 200; ++number) {
    std::vector<int64_t> lengths(std::uniform_int_distribution<size_t>(1, 32)(random));
    const int64_t longest = std::uniform_int_distribution<int64_t>(0, 40)(random);
    for (int64_t& length : lengths) length = std::uniform_int_distribution<int64_t>(0, longest)(random);
    const Batch batch = text_batch(lengths, sizes.vocabulary);
    Tensor want;
    if (number % 50 == 1) {
      std::vector<Tensor> alone;
      for (const Tensor& row : to_rows(batch.x[0])) alone.push_back(model(expand_dims(row, 0)));
      want = mean(binary_crossentropy({.from_logits = true})(batch.y[0], concat(alone)));
    }
    const float loss = step(model, model.optimizer(), batch).item<float>();
    EXPECT_TRUE(std::isfinite(loss)) << "batch " << number;
    if (want.defined()) {
      EXPECT_NEAR(loss, want.item<float>(), 1e-5) << "batch " << number << " against every row alone";
    }
  }
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(step.stats().compiles, 1);
  EXPECT_EQ(step.stats().interpreted_groups, 0);
}

// What the library holds after a step that found no cached memory: everything the step has asked for at some time.
int64_t bytes_after(Model& model, const Batch& batch) {
  auto step = model.train_step();
  trim_memory();
  static_cast<void>(step(model, model.optimizer(), batch).item<float>());
  const MemoryUse stats = memory_use();
  return stats.live_bytes + stats.cached_bytes;
}

TEST(RaggedStep, needs_memory_in_proportion_to_real_elements) {
  constexpr int64_t rows = 32, longest = 200, vocabulary = 50;
  const auto bytes_of = [&](const std::vector<int64_t>& lengths) {
    Model model = text_model({.vocabulary = vocabulary, .embed = 16, .units = 32});
    const Batch nothing = text_batch(std::vector<int64_t>(rows, 0), vocabulary), batch = text_batch(lengths, vocabulary);
    static_cast<void>(bytes_after(model, nothing));  // traces
    const int64_t without = bytes_after(model, nothing);
    return static_cast<double>(bytes_after(model, batch) - without);
  };
  std::vector<int64_t> sparse(rows, 34);  // one full row, a fifth of all elements
  sparse[5] = longest;
  sparse[0] += rows * longest / 5 - std::accumulate(sparse.begin(), sparse.end(), int64_t{0});
  const double full = bytes_of(std::vector<int64_t>(rows, longest)), fifth = bytes_of(sparse);
  EXPECT_GT(full, 1e6);
  EXPECT_LT(fifth / full, 0.2 * 1.3);
}

}  // namespace
}  // namespace anyshape::test
