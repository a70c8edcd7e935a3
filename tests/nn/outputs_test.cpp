// Layers with several results: your own, recurrent ones with their states, attention with its scores, called, traced and described.
#include "nn/notes.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace anyshape {
namespace {

using test::text_of;
using Names = std::vector<std::string>;

struct Ends : Layer {  // what is above a learned border, and what is below it
  Variable border;
  void build(const Shape& input) override { border = weight("border", {input[-1]}, {.initializer = "zeros"}); }
  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext&) override {
    return {maximum(inputs[0], border), minimum(inputs[0], border)};
  }
  Names output_names() const override { return {"above", "below"}; }
};

const Tensor x = tensor({{-1.0F, 2.0F}, {3.0F, -4.0F}});

TEST(Outputs, of_ones_own_layer_are_known_by_index_and_name) {
  const AnyLayer ends = layer(Ends());
  const Outputs found = ends.outputs(x);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(found.names(), (Names{"above", "below"}));
  EXPECT_TRUE(all_equal(found[0], tensor({{0.0F, 2.0F}, {3.0F, 0.0F}})));
  EXPECT_TRUE(all_equal(found["below"], tensor({{-1.0F, 0.0F}, {0.0F, -4.0F}})));
  const auto [above, below] = found.array<2>();
  EXPECT_TRUE(all_equal(above + below, x));
  EXPECT_EQ(text_of<ArgumentError>([&] { found["belwo"]; }), "outputs: \"belwo\" is no output; expected \"below\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { found[2]; }), "outputs: [2] of 2 outputs; expected an index from 0 on that is there.");
  EXPECT_EQ(text_of<ArgumentError>([&] { found.array<3>(); }), "outputs: array<3>() of 2: above, below; expected array<2>().");
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(static_cast<Tensor>(found)); }),
            "outputs: 2 are taken for one tensor: above, below; expected one. Choose by name or index.");
  EXPECT_EQ(text_of<ArgumentError>([&] { ends(x); }),
            "layer \"ends\": it gives 2 results: above, below; expected one where a single tensor is asked for. Call outputs() for all of "
            "them.");
}

TEST(Outputs, of_a_layer_with_one_result_are_that_one) {
  const Dense dense(3);
  const Outputs found = dense.outputs(x);
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(found.names(), Names{"output0"});
  const Tensor one = found;
  EXPECT_TRUE(all_equal(one, dense(x)));
}

TEST(Outputs, are_printed_by_name) {
  std::ostringstream text;
  text << Outputs({tensor({1, 2}), tensor({{3.0F}})}, {"price"}) << "\n" << spec(f32, {dim("batch"), 3}, "x") << "\n" << spec(i32, {2});
  EXPECT_EQ(text.str(), "price: [1 2]\noutput1: [[3.]]\nx: f32[batch, 3]\ni32[2]");
}
TEST(Variable, is_printed_with_name_and_value) {
  std::ostringstream text;
  text << Variable(tensor({1, 2}), {.name = "counts"}) << "; " << Variable(tensor({0.5F})) << "; " << Variable();
  EXPECT_EQ(text.str(), "counts: i32[2] = [1 2]; f32[1] = [0.5]; undefined");
}

TEST(Outputs, none_is_told) {
  struct Nothing : Layer {
    std::vector<Tensor> call_all(std::span<const Tensor>, const CallContext&) override { return {}; }
  };
  EXPECT_EQ(text_of<ArgumentError>([] { layer(Nothing())(x); }), "layer \"nothing\": call_all() gave no tensor; expected at least one.");
}

TEST(Outputs, pass_through_functions_with_one_trace) {
  const AnyLayer ends = layer(Ends());
  ends.build({dynamic, 2});
  auto both = function([&](Tensor in) { return ends.outputs(in); }, {.name = "both"});
  for (const int64_t rows : {2, 5, 0}) {
    const Tensor given = ones({rows, 2});
    EXPECT_TRUE(all_equal(both(given)["above"], given));
    EXPECT_TRUE(all_equal(both(given)["below"], zeros({rows, 2})));
  }
  EXPECT_EQ(both.stats().traces, 1);
}

TEST(Outputs, of_a_sequential_are_its_last_layers) {
  const Sequential model(Dense(2, {.kernel_initializer = identity_matrix()}), Ends());
  EXPECT_EQ(model.outputs(x).names(), (Names{"above", "below"}));
  EXPECT_TRUE(all_equal(model.outputs(x)["above"], maximum(x, 0)));
  const std::string text = text_of<ArgumentError>([] { Sequential(Ends(), Dense(1))(x); });
  EXPECT_NE(text.find("layer \"ends\": it gives 2 results: above, below"), std::string::npos) << text;
}

TEST(Outputs, are_described_by_placeholders) {
  const Tensor in = input({2}, {.name = "in"});
  const AnyLayer ends = layer(Ends());
  const auto [above, below] = ends.outputs(in).array<2>();
  const Model model({.inputs = {in}, .outputs = {{"range", above - below}, below}});
  const Outputs found = model.outputs(x);
  EXPECT_EQ(found.names(), (Names{"range", "ends_below"}));
  EXPECT_TRUE(all_equal(found["range"], abs(x)));
  EXPECT_TRUE(all_equal(found["ends_below"], minimum(x, 0)));
  EXPECT_TRUE(all_equal(model.clone().outputs(x)["range"], abs(x)));
  EXPECT_NE(text_of<ArgumentError>([&] { ends(in); }).find("it gives 2 results: above, below"), std::string::npos);
}

TEST(Outputs, of_a_functional_model_have_names_of_their_own) {
  const Tensor in = input({2});
  const Dense shared(1, {.name = "shared"});
  const auto names = [&](const PerOutput<Tensor>& outputs) { return Model({.inputs = {in}, .outputs = outputs}).outputs(x).names(); };
  EXPECT_EQ(names({shared(in), shared(in * 2), in * 2}), (Names{"shared", "shared_1", "output2"}));
  EXPECT_EQ(names({shared(in), {"shared", shared(in * 2)}}), (Names{"shared_1", "shared"}));
  EXPECT_EQ(text_of<ArgumentError>([&] { names({{"a", shared(in)}, {"a", in}}); }),
            "model: two outputs are called \"a\"; expected a name of its own for each.");
}

TEST(Outputs, keep_their_masks_also_behind_a_branch) {
  struct Turned : Layer {
    Embedding embedding = child(Embedding(5, 2, {.mask_zero = true}));
    Dense first = child(Dense(2)), second = child(Dense(2));
    std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext&) override {
      const Tensor steps = embedding(inputs[0]), one = first(steps), other = second(steps);
      if (sum(inputs[0]) > 10) return {one, other};
      return {other, one};
    }
    Dtype input_dtype() const override { return Dtype::i32; }
  };
  const AnyLayer turned = layer(Turned());
  const Tensor few = tensor({{1, 2, 0}, {3, 0, 0}}), many = tensor({{4, 4, 4}, {4, 0, 0}});
  turned.outputs(few);
  auto traced = function(
      [&](Tensor ids) {
        const auto [a, b] = turned.outputs(ids).array<2>();
        return std::vector<Tensor>{a, b, nn::mask_of(a), nn::mask_of(b)};
      },
      {.name = "traced"});
  for (const Tensor& ids : {few, many}) {
    const std::vector<Tensor> found = traced(ids);
    const Outputs want = turned.outputs(ids);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(all_equal(found[i], want[i])) << i;
      EXPECT_TRUE(all_equal(found[2 + i], ids != 0)) << i;
    }
  }
}

template <class Handle>
void expect_states(const Handle& with, const Handle& plain, size_t states) {
  random::set_seed(3);
  const Tensor steps = random::normal({3, 4, 2});
  plain(steps);
  with.build({dynamic, dynamic, 2});
  Handle own = with;
  own.set_weights(plain.weights());
  const Recurrence want = plain.run(steps);
  const Outputs found = own.outputs(steps);
  ASSERT_EQ(found.size(), 1 + states);
  EXPECT_TRUE(all_equal(found["output"], want.output));
  for (size_t i = 0; i < states; ++i) EXPECT_TRUE(all_equal(found["state_" + std::to_string(i)], want.states[i])) << i;
  EXPECT_EQ(plain.outputs(steps).size(), 1U);
  EXPECT_EQ(plain.outputs(steps, {.return_state = true}).size(), 1 + states);
  // Described, with ragged rows, in pieces.
  const Tensor in = input({dynamic, 2}, {.name = "in", .ragged = true});
  const Outputs described = own.outputs(in);
  const Model model({.inputs = {in}, .outputs = described.tensors(), .name = "states"});
  const Tensor rows = ragged_from_rows({ones({2, 2}), ones({3, 2})});
  const Recurrence direct = own.run(rows);
  EXPECT_TRUE(all_equal(model.outputs(rows)[0], direct.output));
  EXPECT_TRUE(all_equal(model.outputs(rows)[states], direct.states[states - 1]));
}

TEST(Outputs, of_recurrent_layers_are_their_states_where_they_are_asked_for) {
  expect_states(SimpleRNN(3, {.return_state = true}), SimpleRNN(3), 1);
  expect_states(GRU(3, {.return_state = true}), GRU(3), 1);
  expect_states(LSTM(3, {.return_state = true}), LSTM(3), 2);
  expect_states(Bidirectional(LSTM(3, {.return_state = true})), Bidirectional(LSTM(3)), 4);
  EXPECT_NE(text_of<ArgumentError>([] {
              LSTM(3, {.return_state = true})(ones({1, 2, 2}));
            }).find("layer \"lstm\": it gives 3 results: output, state_0, state_1; expected one"),
            std::string::npos);
}

TEST(Outputs, an_encoders_states_begin_a_decoder) {
  const Tensor source = input({dynamic, 2}, {.name = "source"}), target = input({dynamic, 2}, {.name = "target"});
  const auto [last, h, c] = LSTM(3, {.return_state = true, .name = "encoder"}).outputs(source).array<3>();
  const LSTM decoder(3, {.return_sequences = true, .name = "decoder"});
  const Model model({.inputs = {source, target}, .outputs = {{"steps", decoder({target, h, c})}, {"last", last}}});
  const Tensor a = random::normal({2, 5, 2}), b = random::normal({2, 3, 2});
  const Outputs found = model.outputs({a, b});
  EXPECT_EQ(found["steps"].shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(found["last"].shape(), (Shape{2, 3}));
  EXPECT_EQ("\n" + model.summary(), R"(
model (Functional)
layer            result                               parameters   from
-----------------------------------------------------------------------------------------------------------
source (input)   [batch, time, 2]
target (input)   [batch, time, 2]
encoder (LSTM)   [batch, 3], [batch, 3], [batch, 3]           72   source
decoder (LSTM)   [batch, time, 3]                             72   target, encoder_state_0, encoder_state_1
steps (output)   [batch, time, 3]                                  decoder
last (output)    [batch, 3]                                        encoder_output
-----------------------------------------------------------------------------------------------------------
144 parameters, 576 bytes; 144 of them trainable
)");
}

// Two heads whose projections take every second feature, so that all can be computed by hand.
MultiHeadAttention plain_attention() {
  MultiHeadAttention attention(1, 2, {.use_bias = false});
  attention.build({dynamic, dynamic, 2});
  const Tensor to_head = reshape(eye(2), {2, 1, 2});
  attention.set_weights({to_head, to_head, to_head, reshape(eye(2), {1, 2, 2})});
  return attention;
}

TEST(Outputs, of_attention_are_its_scores_where_they_are_asked_for) {
  random::set_seed(5);
  const MultiHeadAttention attention = plain_attention();
  const Tensor query = random::normal({2, 3, 2}), value = random::normal({2, 4, 2});
  const auto [output, scores] = attention.outputs(query, value, {.return_attention_scores = true}).array<2>();
  const Tensor want = softmax(einsum("bqd,bkd->bqk", {query, value}) * (1 / std::sqrt(2.0)));
  EXPECT_TRUE(all_close(reshape(scores, {2, 3, 4}), want, {.absolute = 1e-6}));
  EXPECT_EQ(scores.shape(), (Shape{2, 1, 3, 4}));
  EXPECT_TRUE(all_close(output, matmul(want, value), {.absolute = 1e-6}));
  EXPECT_TRUE(all_equal(output, attention(query, value)));
  EXPECT_EQ(attention.outputs(query).size(), 1U);
}

TEST(Outputs, scores_of_attention_know_masks_and_causality) {
  random::set_seed(6);
  const MultiHeadAttention attention = plain_attention();
  const Tensor steps = random::normal({1, 3, 2});
  const Tensor causal = attention.outputs(steps, {.use_causal_mask = true, .return_attention_scores = true})[1];
  const Tensor mask = reshape(tensor({true, true, false, true, true, false, true, true, false}), {1, 3, 3});
  const Tensor masked = attention.outputs(steps, steps, {.attention_mask = mask, .return_attention_scores = true})[1];
  EXPECT_TRUE(all_close(sum(causal, {.axis = -1}), ones({1, 1, 3})));
  EXPECT_EQ(causal.item<float>(0, 0, 0, 0), 1);
  EXPECT_EQ(causal.item<float>(0, 0, 0, 1), 0);
  EXPECT_EQ(causal.item<float>(0, 0, 1, 2), 0);
  EXPECT_GT(causal.item<float>(0, 0, 2, 2), 0);
  for (int row = 0; row < 3; ++row) EXPECT_EQ(masked.item<float>(0, 0, row, 2), 0) << row;
  for (const auto& [got, options] : {std::pair{causal, AttentionOptions{.use_causal_mask = true}}, {masked, {.attention_mask = mask}}}) {
    EXPECT_TRUE(all_close(matmul(reshape(got, {1, 3, 3}), steps), attention(steps, steps, options), {.absolute = 1e-6}));
  }
  // A query shorter than its keys: the last one meets them all; one too many meets none.
  const Tensor last = attention.outputs(steps.at(whole, {1, 3}), steps, {.use_causal_mask = true, .return_attention_scores = true})[1];
  EXPECT_EQ(last.item<float>(0, 0, 0, 2), 0);
  EXPECT_GT(last.item<float>(0, 0, 1, 2), 0);
  const Tensor fewer = attention.outputs(steps, steps.at(whole, {0, 2}), {.use_causal_mask = true, .return_attention_scores = true})[1];
  EXPECT_TRUE(all_equal(fewer.at(0, 0, 0), zeros({2})));
}

TEST(Outputs, scores_of_ragged_rows_are_refused) {
  const MultiHeadAttention attention = plain_attention();
  EXPECT_NE(text_of<ArgumentError>([&] {
              attention.outputs(ragged_from_rows({ones({2, 2}), ones({1, 2})}), {.return_attention_scores = true});
            }).find("MultiHeadAttention: scores are asked for rows of unequal length"),
            std::string::npos);
}

}  // namespace
}  // namespace anyshape
