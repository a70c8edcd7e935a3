// MultiHeadAttention: ragged, padded and masked, and row by row are one; one trace for all of them; masks, weights, dropout, and what is
// refused.
#include "nn/notes.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

Tensor numbers(const Shape& shape) { return random::normal(shape, {.dtype = f64}); }

MultiHeadAttention small(MultiHeadAttentionOptions options = {}) {
  options.dtype = f64;
  MultiHeadAttention layer(2, 3, options);
  layer.build(std::vector<Shape>{{1, 1, 4}, {1, 1, 5}});
  for (const Variable& weight : layer.variables()) weight.assign(numbers(weight.shape()));
  return layer;
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(all_close(got[i], want[i], {.relative = 1e-9, .absolute = 1e-10})) << what << ", tensor " << i;
}

// The loss and its gradients for inputs (values of ragged ones) and weights.
std::vector<Tensor> pulled(const MultiHeadAttention& layer, const std::vector<Tensor>& sources,
                           const std::function<Tensor(const std::vector<Tensor>&)>& output) {
  GradientTape tape({.persistent = true});
  for (const Tensor& source : sources) tape.watch(source);
  const Tensor y = output(sources), loss = sum(y * y + y);
  std::vector<Tensor> results = {loss};
  for (const Tensor& gradient : tape.gradient(loss, sources)) results.push_back(gradient);
  for (const Tensor& gradient : tape.gradient(loss, layer.trainable_variables())) results.push_back(gradient);
  return results;
}

TEST(MultiHeadAttention, ragged_rows_are_padded_and_masked_ones_and_rows_by_themselves) {
  const std::vector<std::vector<int64_t>> lengths_of_queries = {{3, 1, 0, 5}, {0, 0}, {2, 2}, {1}},
                                          lengths_of_keys = {{2, 4, 3, 1}, {0, 1}, {3, 3}, {7}};
  for (const bool causal : {false, true}) {
    const MultiHeadAttention layer = small();
    for (size_t k = 0; k < lengths_of_queries.size(); ++k) {
      const auto lengths = [](const std::vector<int64_t>& each) { return tensor(each, {static_cast<int64_t>(each.size())}); };
      const Tensor query_lengths = lengths(lengths_of_queries[k]), key_lengths = lengths(lengths_of_keys[k]);
      const Tensor queries = numbers({sum(query_lengths).item<int64_t>(), 4}), values = numbers({sum(key_lengths).item<int64_t>(), 5});
      const auto rows = [&](const std::vector<Tensor>& in) {
        return std::pair{ragged_from_lengths(in[0], query_lengths), ragged_from_lengths(in[1], key_lengths)};
      };
      const std::vector<Tensor> ragged = pulled(layer, {queries, values}, [&](const std::vector<Tensor>& in) {
        const auto [query, value] = rows(in);
        return layer(query, value, {.use_causal_mask = causal}).values();
      });
      const std::vector<Tensor> padded = pulled(layer, {queries, values}, [&](const std::vector<Tensor>& in) {
        const auto [query, value] = rows(in);
        const Tensor real = to_padded(with_rows_of(ones({in[1].shape()[0]}, {.dtype = b8}), value));
        const Tensor y = layer(to_padded(query), nn::with_mask(to_padded(value), real), {.use_causal_mask = causal});
        return from_padded(y, query_lengths).values();
      });
      const std::vector<Tensor> alone = pulled(layer, {queries, values}, [&](const std::vector<Tensor>& in) {
        const auto [query, value] = rows(in);
        std::vector<Tensor> results;
        for (int64_t row = 0; row < query_lengths.shape()[0].value(); ++row) {
          const auto one = [&](const Tensor& x, const Tensor& all, size_t index) {
            const int64_t begin = all.row_splits().to_vector<int64_t>()[index], end = all.row_splits().to_vector<int64_t>()[index + 1];
            return expand_dims(slice(x, {{.begin = begin, .end = end}}), 0);
          };
          const auto index = static_cast<size_t>(row);
          results.push_back(squeeze(layer(one(in[0], query, index), one(in[1], value, index), {.use_causal_mask = causal}), {0}));
        }
        return concat(results);
      });
      expect_close(alone, ragged, "row by row " + std::to_string(k));
      // A padded row without keys takes the mean of its padding; there is none in a ragged one. A causal mask ends where the rows end, padding
      // included.
      const auto is_filled = [](const std::vector<int64_t>& each) { return std::ranges::min(each) == std::ranges::max(each); };
      const bool has_row_without_keys = std::ranges::min(lengths_of_keys[k]) == 0;
      if (has_row_without_keys || (causal && !(is_filled(lengths_of_queries[k]) && is_filled(lengths_of_keys[k])))) continue;
      expect_close(padded, ragged, "padded " + std::to_string(k));
    }
  }
}

TEST(MultiHeadAttention, one_trace_serves_all_rows) {
  const MultiHeadAttention layer(2, 3, {.dtype = f64});
  layer.build(Shape{1, 1, 4});
  auto step = function(
      [&](Tensor x) {
        GradientTape tape;
        const Tensor y = layer(x, {.use_causal_mask = true}).values(), loss = sum(y * y);
        std::vector<Tensor> results = tape.gradient(loss, layer.trainable_variables());
        results.push_back(loss);
        return results;
      },
      {.name = "step", .check_frozen = false});
  for (const std::vector<int64_t>& lengths : std::vector<std::vector<int64_t>>{{3, 1}, {0, 0, 0}, {70, 2, 300}, {1}, {65}}) {
    const Tensor counts = tensor(lengths, {static_cast<int64_t>(lengths.size())});
    const Tensor x = ragged_from_lengths(numbers({sum(counts).item<int64_t>(), 4}), counts);
    const std::vector<Tensor> got = step(x);
    GradientTape tape;
    const Tensor y = layer(to_padded(x), {.use_causal_mask = true}), real = from_padded(y, counts).values(), loss = sum(real * real);
    std::vector<Tensor> want = tape.gradient(loss, layer.trainable_variables());
    want.push_back(loss);
    expect_close(got, want, to_string(counts));
  }
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(step.stats().compiles, 1);
}

TEST(MultiHeadAttention, weights_are_named_and_shaped_as_in_keras) {
  const MultiHeadAttention layer(2, 3, {.value_dim = 5, .output_size = 7});
  layer.build(std::vector<Shape>{{1, 1, 4}, {1, 1, 6}, {1, 1, 8}});
  std::vector<std::string> texts;
  for (const Variable& weight : layer.variables()) texts.push_back(weight.name() + to_string(weight.shape()));
  EXPECT_EQ(texts, (std::vector<std::string>{"query/kernel[4, 2, 3]", "query/bias[2, 3]", "key/kernel[8, 2, 3]", "key/bias[2, 3]",
                                             "value/kernel[6, 2, 5]", "value/bias[2, 5]", "attention_output/kernel[2, 5, 7]",
                                             "attention_output/bias[7]"}));
  EXPECT_EQ(to_string(layer(ones({3, 2, 4}), ones({3, 5, 6}), ones({3, 5, 8})).shape()), "[3, 2, 7]");
  const MultiHeadAttention plain(1, 2, {.use_bias = false});
  plain.build(Shape{1, 1, 4});
  EXPECT_EQ(plain.variables().size(), 4U);
}

TEST(MultiHeadAttention, the_mask_of_the_query_travels_with_the_result) {
  const MultiHeadAttention layer(1, 2);
  const Tensor mask = tensor({{true, false}});
  const Tensor x = ones({1, 2, 3});
  EXPECT_TRUE(all_equal(nn::mask_of(layer(nn::with_mask(x, mask))), mask));
  EXPECT_FALSE(nn::mask_of(layer(x, nn::with_mask(x, mask))).defined());
  EXPECT_TRUE(all_equal(nn::mask_of(layer(nn::with_mask(x, mask), ones({1, 4, 3}))), mask));
}

TEST(MultiHeadAttention, dropout_drops_in_training_only_dense_and_ragged) {
  // Values are ones and the projections keep them: the result is the sum of what dropout left of the weights.
  MultiHeadAttention layer(1, 1, {.dropout = 0.5, .use_bias = false});
  layer.build(Shape{1, 1, 1});
  layer.set_weights({zeros({1, 1, 1}), zeros({1, 1, 1}), ones({1, 1, 1}), ones({1, 1, 1})});
  const Tensor x = ones({8, 100, 1}), rows = ragged_from_lengths(ones({800, 1}), broadcast_to(tensor({100}), {8}));
  EXPECT_TRUE(all_close(layer(x), ones({8, 100, 1}), {.absolute = 1e-5}));
  random::set_seed(3);
  const Tensor dense = layer(x, {.training = true});
  random::set_seed(3);
  const Tensor ragged = layer(rows, {.training = true}).values();
  EXPECT_TRUE(all_equal(reshape(dense, {800, 1}), ragged)) << "the draw belongs to row, head, query and key";
  EXPECT_NEAR(mean(dense).item<float>(), 1, 0.02);
  const float deviation = sqrt(mean(square(dense - 1.0))).item<float>();  // each weight is 0 or 2 / 100: sqrt(100) / 100
  EXPECT_NEAR(deviation, 0.1, 0.015);
}

TEST(MultiHeadAttention, refuses_with_the_rule) {
  const auto text = [](const auto& call) { return test::text_of<std::exception>(call); };
  EXPECT_EQ(text([] { MultiHeadAttention(0, 2); }), "MultiHeadAttention: heads is 0; expected at least 1.");
  EXPECT_EQ(text([] { MultiHeadAttention(1, 2, {.dropout = 1}); }), "MultiHeadAttention: dropout is 1; expected 0 <= dropout < 1.");
  const MultiHeadAttention layer(1, 2);
  EXPECT_NE(text([&] { layer(ones({2, 3})); }).find("MultiHeadAttention: an input is [2, 3]; expected query [batch, time, features]"),
            std::string::npos);
  const Tensor x = ones({2, 3, 4});
  EXPECT_NE(text([&] { layer(x, x, {.attention_mask = ones({2, 3}, {.dtype = b8})}); }).find("attention_mask is [2, 3]; expected"),
            std::string::npos);
  EXPECT_NE(text([&] { layer(x, ones({3, 3, 4})); }).find("query and key differ in batch"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::test
