// A transformer encoder over rows of unequal length: one trace and one compile for any rows; ragged, padded and masked, and row by row give one
// loss and the same gradients; memory follows the real elements.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace anyshape::test {
namespace {

using Lengths = std::vector<int64_t>;

struct EncoderSizes {
  int64_t width = 8, heads = 2, hidden = 16, blocks = 2;
  Dtype dtype = f64;
};

// Pre-norm blocks, a final norm, the mean over real steps, one logit per row.
Model encoder(const EncoderSizes& sizes) {
  const auto norm = [&](const Tensor& x) { return LayerNormalization({.epsilon = 1e-6, .dtype = sizes.dtype})(x); };
  const auto dense = [&](int64_t units, ActivationFunction activation = {}) {
    return Dense(units, {.activation = std::move(activation), .dtype = sizes.dtype});
  };
  const auto tanh_gelu = [](const Tensor& x) { return gelu(x, {.approximate = true}); };
  const Tensor x = input({dynamic, sizes.width}, {.dtype = sizes.dtype});
  Tensor h = Masking({.dtype = sizes.dtype})(x);
  for (int64_t block = 0; block < sizes.blocks; ++block) {
    h = Add({.dtype = sizes.dtype})({h, MultiHeadAttention(sizes.heads, sizes.width / sizes.heads, {.dtype = sizes.dtype})(norm(h))});
    h = Add({.dtype = sizes.dtype})({h, dense(sizes.width)(dense(sizes.hidden, tanh_gelu)(norm(h)))});
  }
  const Tensor logits = dense(1)(GlobalAveragePooling1D({.dtype = sizes.dtype})(norm(h)));
  return Model({.inputs = {x}, .outputs = {logits}});
}

Tensor ragged_batch(const Lengths& lengths, const EncoderSizes& sizes) {
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  return ragged_from_lengths(random::normal({total, sizes.width}, {.dtype = sizes.dtype}),
                             tensor(lengths, {static_cast<int64_t>(lengths.size())}));
}

Tensor targets(size_t rows, const EncoderSizes& sizes) {
  return random::bernoulli({static_cast<int64_t>(rows), 1}, {.dtype = sizes.dtype});
}

// The loss and the gradient of every weight.
std::vector<Tensor> pulled(const Model& model, const Tensor& x, const Tensor& y) {
  GradientTape tape;
  const Tensor loss = binary_crossentropy({.from_logits = true})(y, model(x));
  std::vector<Tensor> results = tape.gradient(loss, model.trainable_variables());
  results.push_back(loss);
  return results;
}

TEST(Encoder, ragged_is_padded_and_masked_is_row_by_row) {
  random::set_seed(4);
  const EncoderSizes sizes;
  const Model model = encoder(sizes);
  for (const Lengths& lengths : std::vector<Lengths>{{5, 1, 9, 3}, {4, 4, 4}, {1}, {1, 1}, {70, 2}}) {
    const Tensor x = ragged_batch(lengths, sizes), y = targets(lengths.size(), sizes);
    const std::vector<Tensor> ragged = pulled(model, x, y), padded = pulled(model, to_padded(x), y);
    std::vector<Tensor> alone;
    for (size_t row = 0; row < lengths.size(); ++row) {
      const auto index = static_cast<int64_t>(row);
      const std::vector<Tensor> one =
          pulled(model, expand_dims(anyshape::row(x, index), 0), slice(y, {{.begin = index, .end = index + 1}}));
      for (size_t i = 0; i < one.size(); ++i) {
        const Tensor share = one[i] / static_cast<double>(lengths.size());
        if (row == 0)
          alone.push_back(share);
        else
          alone[i] = alone[i] + share;
      }
    }
    for (size_t i = 0; i < ragged.size(); ++i) {
      const CloseOptions close{.relative = 1e-9, .absolute = 1e-10};
      EXPECT_TRUE(all_close(padded[i], ragged[i], close)) << "padded, " << lengths.size() << " rows, tensor " << i;
      EXPECT_TRUE(all_close(alone[i], ragged[i], close)) << "row by row, " << lengths.size() << " rows, tensor " << i;
    }
  }
}

TEST(Encoder, one_trace_and_one_compile_serve_200_random_ragged_batches) {
  random::set_seed(5);
  const EncoderSizes sizes{.width = 16, .heads = 4, .hidden = 32, .dtype = f32};
  Model model = encoder(sizes);
  model.compile({.optimizer = adam({.learning_rate = 1e-3}), .loss = binary_crossentropy({.from_logits = true})});
  const auto step = model.train_step();
  std::mt19937 generator(6);
  float least = 1e9F;
  for (int k = 0; k < 200; ++k) {
    Lengths lengths(std::uniform_int_distribution<size_t>(1, 9)(generator));
    for (int64_t& length : lengths) length = std::uniform_int_distribution<int64_t>(1, k % 10 == 0 ? 300 : 30)(generator);
    const Tensor x = ragged_batch(lengths, sizes);
    const float loss = step(model, model.optimizer(), Batch{.x = {x}, .y = {targets(lengths.size(), sizes)}}).item<float>();
    ASSERT_TRUE(std::isfinite(loss)) << "batch " << k;
    least = std::min(least, loss);
  }
  EXPECT_LT(least, 0.7F);
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(step.stats().compiles, 1);
  EXPECT_EQ(step.stats().interpreted_groups, 0);
}

TEST(Encoder, memory_of_a_ragged_step_follows_the_real_elements) {
  const EncoderSizes sizes{.width = 64, .heads = 4, .hidden = 256, .dtype = f32};
  Model model = encoder(sizes);
  model.compile({.optimizer = sgd(), .loss = binary_crossentropy({.from_logits = true})});
  const auto step = model.train_step();
  // What a step takes for itself is in the cache when it is done; tiles of attention take a few MiB whatever the rows.
  const auto bytes_of = [&](const Lengths& lengths) {
    const Batch batch{.x = {ragged_batch(lengths, sizes)}, .y = {targets(lengths.size(), sizes)}};
    trim_memory();
    step(model, model.optimizer(), batch);
    return static_cast<double>(memory_use().cached_bytes);
  };
  bytes_of(Lengths(16, 1));
  Lengths uneven(16, 20);
  uneven[3] = 400;  // 700 elements; padded there would be 6400
  const double sparse = bytes_of(uneven), full = bytes_of(Lengths(16, 400));
  EXPECT_LT(sparse, 0.3 * full) << sparse << " and " << full << " bytes";
}

}  // namespace
}  // namespace anyshape::test
