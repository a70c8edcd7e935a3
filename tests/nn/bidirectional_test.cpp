// Bidirectional and TimeDistributed: layers around layers over time.
#include "nn/notes.h"
#include "nn/recurrent_layers.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

TEST(Bidirectional, merges_what_both_directions_give) {
  const Tensor x = f64_normal({2, 4, 3});
  for (const bool sequences : {false, true}) {
    const GRU forward(2, {.return_sequences = sequences, .dtype = Dtype::f64});
    const GRU backward(2, {.return_sequences = sequences, .go_backwards = true, .dtype = Dtype::f64});
    const Tensor a = forward(x), reversed = backward(x), b = sequences ? flip(reversed, {1}) : reversed;
    const std::pair<Merge, Tensor> merges[] = {
        {Merge::Concat, concat({a, b}, {.axis = -1})}, {Merge::Sum, a + b}, {Merge::Multiply, a * b}, {Merge::Average, (a + b) / 2}};
    for (const auto& [merge, want] : merges) {
      Bidirectional both(GRU(2, {.return_sequences = sequences, .dtype = Dtype::f64}), {.merge = merge});
      both.build(x.shape());
      std::vector<Tensor> weights = forward.weights(), others = backward.weights();
      weights.insert(weights.end(), others.begin(), others.end());
      both.set_weights(weights);
      expect_close({both(x)}, {want}, "merge");
    }
  }
}

TEST(Bidirectional, has_two_layers_with_names_weights_and_states_of_their_own) {
  const Bidirectional both{LSTM(2)};
  both.build({1, 3, 4});
  ASSERT_EQ(both.children().size(), 2U);
  EXPECT_EQ(both.children()[0].name(), "forward_lstm");
  EXPECT_EQ(both.children()[1].name(), "backward_lstm");
  EXPECT_EQ(Bidirectional(LSTM(2, {.name = "text"})).children()[1].name(), "backward_text");
  EXPECT_EQ(both.parameter_count(), 2 * (4 * 8 + 2 * 8 + 8));
  EXPECT_FALSE(all_equal(both.weights()[0], both.weights()[3]));

  const Tensor x = ones({1, 3, 4});
  const Recurrence zero = both.run(x);
  ASSERT_EQ(zero.states.size(), 4U);
  EXPECT_TRUE(all_equal(zero.output, concat({zero.states[0], zero.states[2]}, {.axis = -1})));
  const Recurrence again = both.run(x, {zeros({1, 2}), zeros({1, 2}), ones({1, 2}), ones({1, 2})});
  EXPECT_TRUE(all_equal(again.states[0], zero.states[0]));
  EXPECT_FALSE(all_equal(again.states[2], zero.states[2]));

  const Bidirectional own{RNN(PeepholeCell(2))};
  own.build({1, 3, 4});
  EXPECT_EQ(own.variables().size(), 6U) << "each direction has a cell";
}

TEST(Bidirectional, turns_a_backward_layer_round) {
  const Tensor x = f64_normal({2, 4, 3});
  const Bidirectional both(SimpleRNN(2, {.go_backwards = true, .dtype = Dtype::f64}));
  SimpleRNN backward(2, {.go_backwards = true, .dtype = Dtype::f64});
  SimpleRNN forward(2, {.dtype = Dtype::f64});
  both.build(x.shape());
  backward.build(x.shape());
  forward.build(x.shape());
  const std::vector<Tensor> weights = both.weights();
  backward.set_weights({weights.begin(), weights.begin() + 3});
  forward.set_weights({weights.begin() + 3, weights.end()});
  expect_close({both(x)}, {concat({backward(x), forward(x)}, {.axis = -1})}, "turned");
}

TEST(Bidirectional, refuses_what_it_cannot_copy) {
  const LSTM built(2);
  built.build({1, 1, 1});
  EXPECT_THROW(Bidirectional{built}, ArgumentError);
  const Bidirectional both{LSTM(2)};
  EXPECT_THROW(Bidirectional{RecurrentLayer(both)}, ArgumentError);
  EXPECT_THROW(both.run(ones({1, 1, 1}), {ones({1, 2})}), ArgumentError);
}

TEST(TimeDistributed, calls_its_layer_at_every_step) {
  const TimeDistributed layer(GRU(2, {.dtype = Dtype::f64}));
  const Tensor x = f64_normal({2, 3, 4, 5});
  const Tensor got = layer(x);
  const AnyLayer inner = layer.children()[0];
  std::vector<Tensor> steps;
  for (const Tensor& step : unstack(x, {.axis = 1})) steps.push_back(inner(step));
  expect_close({got}, {stack(steps, {.axis = 1})}, "steps");

  auto traced = function([&](Tensor input) { return layer(input); }, {.name = "distributed"});
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {1, 1, 1, 5}, {0, 3, 4, 5}, {2, 0, 4, 5}, {2, 3, 0, 5}};
  for (const Shape& shape : shapes) {
    const Tensor input = f64_normal(shape);
    expect_close({traced(input)}, {layer(input)}, to_string(shape));
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(TimeDistributed, passes_masks_on_and_takes_ragged_rows_as_their_steps) {
  const TimeDistributed layer(Dense(2));
  const Tensor real = tensor({{true, false}});
  EXPECT_TRUE(all_equal(nn::mask_of(layer(nn::with_mask(ones({1, 2, 3}), real))), real));
  const Tensor x = ragged_from_lengths(random::normal({5, 3}), tensor({2, 0, 3}));
  const Tensor got = layer(x);
  EXPECT_TRUE(got.is_ragged());
  EXPECT_TRUE(all_close(got.values(), layer.children()[0](x.values())));
  EXPECT_THROW(layer(ones({2})), ShapeError);
}

}  // namespace
}  // namespace anyshape::test
