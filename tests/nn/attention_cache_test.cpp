// Decoding with a cache: a sequence in pieces is the sequence as a whole, with its gradients; one trace for prompts of any length and the
// steps behind them; masks, ragged rows, and what is refused.
#include "autodiff/finite_differences.h"
#include "nn/notes.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <numeric>

namespace anyshape::test {
namespace {

using Lengths = std::vector<int64_t>;
using Caches = std::vector<AttentionCache>;

Tensor numbers(const Shape& shape, Dtype dtype = f64) { return random::normal(shape, {.dtype = dtype}); }

MultiHeadAttention small(Dtype dtype = f64) {
  const MultiHeadAttention layer(2, 3, {.value_dim = 5, .dtype = dtype});
  layer.build(Shape{1, 1, 4});
  for (const Variable& weight : layer.variables()) weight.assign(numbers(weight.shape(), dtype));
  return layer;
}

Tensor steps_of(const Tensor& x, int64_t begin, int64_t end) { return slice(x, {{}, {.begin = begin, .end = end}}); }

// A sequence in pieces, each behind the cache of those before it.
CachedAttention in_pieces(const MultiHeadAttention& layer, const Tensor& x, const Lengths& pieces) {
  std::vector<Tensor> outputs;
  AttentionCache cache = layer.empty_cache(x.shape()[0]);
  int64_t begin = 0;
  for (const int64_t length : pieces) {
    const CachedAttention next = layer.run(steps_of(x, begin, begin + length), cache);
    outputs.push_back(next.output);
    cache = next.cache;
    begin += length;
  }
  return {concat(outputs, {.axis = 1}), cache};
}

void expect_close(const Tensor& got, const Tensor& want, double closeness, const std::string& what) {
  ASSERT_EQ(to_string(got.shape()), to_string(want.shape())) << what;
  EXPECT_TRUE(all_close(got, want, {.relative = closeness, .absolute = closeness})) << what;
}

// Two layers of attention over their own caches.
struct Decoder {
  std::vector<MultiHeadAttention> layers;
  Decoder() {
    random::set_seed(5);
    for (int i = 0; i < 2; ++i) layers.push_back(small());
  }
  Caches empty(const Dim& batch, EmptyCacheOptions options = {}) const {
    Caches caches;
    for (const MultiHeadAttention& layer : layers) caches.push_back(layer.empty_cache(batch, options));
    return caches;
  }
  std::pair<Tensor, Caches> operator()(Tensor x, Caches caches) const {
    for (size_t i = 0; i < layers.size(); ++i) {
      const auto [output, grown] = layers[i].run(x, caches[i]);
      x = x + output;
      caches[i] = grown;
    }
    return {x, caches};
  }
  Tensor whole(Tensor x) const {
    for (const MultiHeadAttention& layer : layers) x = x + layer(x, {.use_causal_mask = true});
    return x;
  }
};

TEST(AttentionCache, pieces_of_any_lengths_give_what_the_whole_gives) {
  random::set_seed(1);
  constexpr int64_t time = 9;
  for (const Dtype dtype : {f32, f64}) {
    const MultiHeadAttention layer = small(dtype);
    const Tensor x = numbers({3, time, 4}, dtype), whole = layer(x, {.use_causal_mask = true});
    const AttentionCache all = layer.run(x, layer.empty_cache(3)).cache;
    std::vector<Lengths> cuts = {Lengths(time, 1), {2, 0, 3, 4}, {0, time}, {time}};
    for (int64_t first = 0; first <= time; ++first) cuts.push_back({first, time - first});
    for (const Lengths& pieces : cuts) {
      const double closeness = dtype == f32 ? 1e-6 : 1e-13;
      const CachedAttention got = in_pieces(layer, x, pieces);
      const std::string what = std::string(to_string(dtype)) + ", first piece of " + std::to_string(pieces[0]);
      expect_close(got.output, whole, closeness, what);
      expect_close(got.cache.keys, all.keys, closeness, what + ", keys");
      expect_close(got.cache.values, all.values, closeness, what + ", values");
      EXPECT_EQ(got.cache.length(), time);
    }
  }
}

TEST(AttentionCache, one_trace_decodes_prompts_of_any_length_and_the_steps_behind_them) {
  const Decoder decoder;
  auto decode = function(decoder, {.name = "decode", .retrace = Retrace::Forbid});
  const auto follow = [&](int64_t batch, const Lengths& pieces) {
    const int64_t time = std::accumulate(pieces.begin(), pieces.end(), int64_t{0});
    const Tensor x = numbers({batch, time, 4}), whole = decoder.whole(x);
    Caches caches = decoder.empty(batch);
    int64_t begin = 0;
    for (const int64_t length : pieces) {
      auto [output, grown] = decode(steps_of(x, begin, begin + length), caches);
      expect_close(output, steps_of(whole, begin, begin + length), 1e-12,
                   std::to_string(begin) + " steps before " + std::to_string(length));
      caches = grown;
      begin += length;
    }
    for (const AttentionCache& cache : caches) EXPECT_EQ(cache.length(), time);
  };
  for (int64_t prompt = 1; prompt <= 20; ++prompt) follow(1 + prompt % 3, {prompt, 1, 1, 1});
  follow(2, {300, 1, 70, 1});
  follow(2, {0, 0, 3});
  follow(0, {2, 1});
  EXPECT_EQ(decode.stats().traces, 1);
  EXPECT_EQ(decode.stats().compiles, 1);
}

TEST(AttentionCache, gradients_flow_through_the_cache_into_earlier_pieces) {
  const Decoder decoder;
  std::vector<Variable> weights;
  for (const MultiHeadAttention& layer : decoder.layers) {
    for (const Variable& weight : layer.trainable_variables()) weights.push_back(weight);
  }
  // The loss, and its gradients for the steps and all weights.
  const auto pulled = [&](const Tensor& x, const std::function<Tensor(const Tensor&)>& run) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor y = run(x), loss = sum(y * y + y);
    std::vector<Tensor> results = tape.gradient(loss, weights);
    results.push_back(tape.gradient(loss, x));
    results.push_back(loss);
    return results;
  };
  auto in_two = function(
      [&](Tensor first, Tensor second) {
        return pulled(concat({first, second}, {.axis = 1}), [&](const Tensor& x) {
          const Dim middle = first.shape()[1];
          const auto [before, caches] = decoder(slice(x, {{}, {.end = middle}}), decoder.empty(x.shape()[0]));
          const Tensor after = decoder(slice(x, {{}, {.begin = middle}}), caches).first;
          return concat({before, after}, {.axis = 1});
        });
      },
      {.name = "in_two"});
  for (const auto& [first, second] : {std::pair<int64_t, int64_t>{4, 3}, {0, 2}, {5, 1}, {1, 0}, {1, 6}}) {
    const Tensor x = numbers({3, first + second, 4});
    const std::vector<Tensor> got = in_two(steps_of(x, 0, first), steps_of(x, first, first + second));
    const std::vector<Tensor> want = pulled(x, [&](const Tensor& all) { return decoder.whole(all); });
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(all_close(got[i], want[i], {.relative = 1e-9, .absolute = 1e-10})) << first << " and " << second << ", tensor " << i;
    }
  }
  EXPECT_EQ(in_two.stats().traces, 1);
}

TEST(AttentionCache, gradients_of_new_steps_and_of_the_cache_agree_with_differences) {
  random::set_seed(2);
  const MultiHeadAttention layer = small();
  const AttentionCache cache = layer.run(numbers({2, 3, 4}), layer.empty_cache(2)).cache;
  check_gradients(
      [&](const std::vector<Tensor>& x) {
        const CachedAttention next = layer.run(x[0], {x[1], x[2]});
        return concat({reshape(next.output, {-1}), reshape(next.cache.keys, {-1}), reshape(next.cache.values, {-1})});
      },
      {numbers({2, 2, 4}), cache.keys, cache.values}, 1e-5);
}

TEST(AttentionCache, a_mask_of_all_steps_hides_padding_before_a_prompt) {
  random::set_seed(3);
  const MultiHeadAttention layer = small();
  // Row 1 has two steps of padding before its first; then both rows take two steps more.
  const Tensor x = numbers({2, 6, 4});
  const Tensor is_real = tensor({{true, true, true, true, true, true}, {false, false, true, true, true, true}});
  const auto mask_of = [&](int64_t begin, int64_t end) {
    return broadcast_to(reshape(steps_of(is_real, 0, end), {2, 1, end}), {2, end - begin, end});
  };
  const CachedAttention prompt = layer.run(steps_of(x, 0, 4), layer.empty_cache(2), {.attention_mask = mask_of(0, 4)});
  const CachedAttention next = layer.run(steps_of(x, 4, 6), prompt.cache, {.attention_mask = mask_of(4, 6)});
  const Tensor got = concat({prompt.output, next.output}, {.axis = 1});
  const auto row_of = [](const Tensor& all, int64_t row, int64_t first) {
    return slice(all, {{.begin = row, .end = row + 1}, {.begin = first}});
  };
  for (const auto& [row, first] : {std::pair<int64_t, int64_t>{0, 0}, {1, 2}}) {
    expect_close(row_of(got, row, first), layer(row_of(x, row, first), {.use_causal_mask = true}), 1e-12, "row " + std::to_string(row));
  }
}

TEST(AttentionCache, ragged_rows_grow_each_by_steps_of_its_own) {
  const Decoder decoder;
  auto decode = function(decoder, {.name = "decode", .retrace = Retrace::Forbid});
  for (const std::vector<Lengths>& pieces :
       std::vector<std::vector<Lengths>>{{{3, 1, 0}, {1, 1, 1}, {2, 0, 5}}, {{70, 300}, {1, 1}, {1, 1}}, {{0}, {4}}, {{1, 2, 3, 4}}}) {
    const size_t rows = pieces[0].size();
    std::vector<Tensor> whole, given;
    std::vector<int64_t> begins(rows, 0);
    for (size_t row = 0; row < rows; ++row) {
      int64_t time = 0;
      for (const Lengths& piece : pieces) time += piece[row];
      given.push_back(numbers({1, time, 4}));
      whole.push_back(decoder.whole(given.back()));
    }
    Caches caches = decoder.empty(static_cast<int64_t>(rows), {.ragged = true});
    for (const Lengths& piece : pieces) {
      const auto part = [&](const std::vector<Tensor>& from) {
        std::vector<Tensor> parts;
        for (size_t row = 0; row < rows; ++row) parts.push_back(squeeze(steps_of(from[row], begins[row], begins[row] + piece[row]), {0}));
        return ragged_from_rows(parts);
      };
      auto [output, grown] = decode(part(given), caches);
      expect_close(output.values(), part(whole).values(), 1e-12, "a piece of " + std::to_string(piece[0]));
      caches = grown;
      for (size_t row = 0; row < rows; ++row) begins[row] += piece[row];
    }
    for (const AttentionCache& cache : caches) EXPECT_EQ(row_lengths(cache.keys).to_vector<int64_t>(), begins);
  }
  EXPECT_EQ(decode.stats().traces, 1);
  EXPECT_EQ(decode.stats().compiles, 1);
}

TEST(AttentionCache, the_first_call_makes_the_weights_of_self_attention) {
  const MultiHeadAttention layer(2, 3, {.value_dim = 5});
  const AttentionCache empty = layer.empty_cache(2);
  EXPECT_EQ(to_string(empty.keys.shape()), "[2, 0, 2, 3]");
  EXPECT_EQ(to_string(empty.values.shape()), "[2, 0, 2, 5]");
  EXPECT_FALSE(layer.is_built());
  const CachedAttention first = layer.run(ones({2, 3, 4}), empty);
  EXPECT_EQ(to_string(first.output.shape()), "[2, 3, 4]");
  ASSERT_EQ(layer.variables().size(), 8U);
  EXPECT_EQ(layer.variables()[0].name() + to_string(layer.variables()[0].shape()), "query/kernel[4, 2, 3]");
  const MultiHeadAttention half(1, 2, {.dtype = f16});
  EXPECT_EQ(half.run(ones({1, 1, 4}), half.empty_cache(1)).cache.keys.dtype(), f16);
}

TEST(AttentionCache, dropout_is_for_training_only) {
  MultiHeadAttention layer(1, 1, {.dropout = 0.5, .use_bias = false});
  layer.build(Shape{1, 1, 1});
  layer.set_weights({zeros({1, 1, 1}), zeros({1, 1, 1}), ones({1, 1, 1}), ones({1, 1, 1})});
  const AttentionCache cache = layer.run(ones({1, 50, 1}), layer.empty_cache(1)).cache;
  EXPECT_TRUE(all_close(layer.run(ones({1, 20, 1}), cache).output, ones({1, 20, 1}), {.absolute = 1e-5}));
  EXPECT_FALSE(all_close(layer.run(ones({1, 20, 1}), cache, {.training = true}).output, ones({1, 20, 1}), {.absolute = 0.01}));
}

TEST(AttentionCache, refuses_with_the_rule) {
  const auto text = [](const auto& call) { return test::text_of<std::exception>(call); };
  const MultiHeadAttention layer(2, 3, {.name = "self"});
  const Tensor x = ones({2, 1, 4});
  const AttentionCache empty = layer.empty_cache(2);
  const std::string begin = "Begin with empty_cache(batch) of this layer, and give each call what the one before gave. In layer \"self\".";
  EXPECT_EQ(text([&] { layer.run(x, {}); }), "MultiHeadAttention: the cache has no keys; expected tensors. " + begin);
  EXPECT_EQ(text([&] { layer.run(x, layer.empty_cache(3)); }),
            "MultiHeadAttention: the cache's keys are [3, 0, 2, 3]; expected [2, time, 2, 3]. " + begin);
  EXPECT_EQ(text([&] { layer.run(x, MultiHeadAttention(2, 4).empty_cache(2)); }),
            "MultiHeadAttention: the cache's keys are [2, 0, 2, 4]; expected [2, time, 2, 3]. " + begin);
  EXPECT_EQ(text([&] { layer.run(x, {empty.keys, ones({2, 0})}); }),
            "MultiHeadAttention: the cache's values are [2, 0]; expected [2, time, 2, 3]. " + begin);
  EXPECT_EQ(
      text([&] { layer.run(x, layer.empty_cache(2, {.ragged = true})); }),
      "MultiHeadAttention: the new steps are [2, 1, 4], and the cache's keys [2, (0..0), 2, 3]; expected both ragged or neither. Ragged "
      "rows begin with empty_cache(rows, {.ragged = true}). In layer \"self\".");
  EXPECT_EQ(text([&] { layer.run(nn::with_mask(x, ones({2, 1}, {.dtype = b8})), empty); }),
            "MultiHeadAttention: the new steps carry a mask, and a cache keeps none of earlier steps; expected attention_mask [batch, new "
            "steps, all steps], or ragged rows, which need no mask. In layer \"self\".");
  EXPECT_NE(text([&] { layer.run(ones({2, 4}), empty); }).find("an input is [2, 4]; expected query [batch, time, features]"),
            std::string::npos);
  EXPECT_NE(text([&] { layer.run(input({dynamic, 4}), empty); }).find("run() is given what as::input() describes"), std::string::npos);
  EXPECT_NE(text([&] { layer.run(x, empty, {.attention_mask = ones({2, 1, 5}, {.dtype = b8})}); }).find("the mask is b8[2, 1, 1, 5]"),
            std::string::npos);
  // Keys and values of different lengths, and inside a function a cache of another layer: told where they meet.
  EXPECT_NE(text([&] { layer.run(x, {ones({2, 3, 2, 3}), ones({2, 2, 2, 3})}); }).find("there is not one value per key"),
            std::string::npos);
  auto decode = function([&](Tensor steps, AttentionCache cache) { return layer.run(steps, cache).output; }, {.name = "decode"});
  EXPECT_EQ(text([&] { decode(x, empty); }), "nothing was thrown");
  EXPECT_NE(text([&] { decode(x, MultiHeadAttention(2, 4).empty_cache(2)); }).find("sizes along axis 3 differ"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::test
