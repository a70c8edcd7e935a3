// Recurrent layers over dense batches: every size by one trace, states, masks, dropout, cells of a user's own, and what is refused.
#include "base/switches.h"
#include "nn/notes.h"
#include "nn/recurrent_layers.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor as_is(const Tensor& x) { return x; }

template <class Error, class Call>
void expect_refused(Call call, const std::string& part) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return;
  }
  ADD_FAILURE() << "not refused: " << part;
}

TEST(Recurrent, one_trace_serves_all_sizes_with_their_gradients) {
  for (const std::string& kind : recurrent_layers) {
    for (const bool sequences : {false, true}) {
      const RecurrentLayer layer = make_recurrent(kind, {.return_sequences = sequences});
      layer.build({2, 3, 4});
      auto traced = function([&](Tensor x, std::vector<Tensor> states) { return pull(layer, x, states, as_is).all(); },
                             {.name = kind, .check_frozen = false});
      const std::pair<int64_t, int64_t> sizes[] = {{3, 5}, {1, 1}, {0, 3}, {3, 0}, {0, 0}, {1, 7}, {5, 2}};
      for (const auto& [rows, time] : sizes) {
        const Tensor x = f64_normal({rows, time, 4});
        const std::vector<Tensor> states = random_states(kind, rows);
        expect_close(traced(x, states), pull(layer, x, states, as_is).all(), kind + " " + to_string(x.shape()));
      }
      EXPECT_EQ(traced.stats().traces, 1) << kind;
    }
  }
}

// As many rows as units, as features, as gates are wide, and more than a block of them.
TEST(Recurrent, sizes_as_numbers_give_the_bits_of_any_size) {
  const ScopedWithout without("expand_products");  // small products add up in another order
  for (const std::string& kind : recurrent_layers) {
    const RecurrentLayer layer = make_recurrent(kind, {.return_sequences = true});
    layer.build({2, 3, 4});
    const auto traced = [&](Shapes shapes) {
      return function([&](Tensor x, std::vector<Tensor> states) { return pull(layer, x, states, as_is).all(); },
                      {.name = kind, .shapes = shapes, .retrace = Retrace::Allow, .check_frozen = false});
    };
    const auto exact = traced(Shapes::Exact), symbolic = traced(Shapes::Symbolic);
    for (const int64_t rows : {3, 4, 12, 1, 0, 33}) {
      const Tensor x = f64_normal({rows, 5, 4});
      const std::vector<Tensor> states = random_states(kind, rows), got = exact(x, states), any = symbolic(x, states);
      if (rows == 3) {
        const std::string text = exact.explain({.detail = Detail::Full});
        EXPECT_NE(text.find("every op of its body works on each row by itself"), std::string::npos) << text;
        EXPECT_EQ(text.find("works on all rows together"), std::string::npos) << text;
      }
      for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_equal(got[i], any[i])) << kind << ", " << rows << " rows, tensor " << i;
    }
  }
}

TEST(Recurrent, a_row_without_steps_gives_its_initial_state) {
  for (const std::string kind : {"SimpleRNN", "LSTM", "GRU", "RNN"}) {
    const RecurrentLayer layer = make_recurrent(kind);
    const std::vector<Tensor> states = random_states(kind, 2);
    const Recurrence none = layer.run(zeros({2, 0, 4}, {.dtype = Dtype::f64}), states);
    EXPECT_TRUE(all_equal(none.output, states[0])) << kind;
    EXPECT_TRUE(all_equal(none.states[0], states[0])) << kind;
    const Tensor x = nn::with_mask(f64_normal({2, 3, 4}), zeros({2, 3}, {.dtype = Dtype::b8}));
    EXPECT_TRUE(all_equal(layer.run(x, states).output, states[0])) << kind;
  }
}

TEST(Recurrent, states_that_are_handed_on_continue_a_sequence) {
  for (const std::string& kind : recurrent_layers) {
    if (kind == "Bidirectional") continue;
    const RecurrentLayer layer = make_recurrent(kind);
    const Tensor x = f64_normal({2, 5, 4});
    const Recurrence whole = layer.run(x);
    const std::vector<Tensor> parts = split(x, {2}, {.axis = 1});
    const Recurrence first = layer.run(parts[0]);
    const Recurrence second = layer.run(parts[1], first.states);
    expect_close(second.states, whole.states, kind);
    expect_close({second.output}, {whole.output}, kind);
    std::vector<Tensor> inputs{parts[1]};
    inputs.insert(inputs.end(), first.states.begin(), first.states.end());
    expect_close({layer(inputs)}, {whole.output}, kind);
  }
}

TEST(Recurrent, backwards_is_forwards_on_the_reversed_rows) {
  for (const std::string& kind : recurrent_layers) {
    if (kind == "Bidirectional") continue;
    const RecurrentLayer forward = make_recurrent(kind, {.return_sequences = true});
    RecurrentLayer backward = make_recurrent(kind, {.return_sequences = true, .go_backwards = true});
    const Tensor x = f64_normal({2, 5, 4}), real = tensor(std::vector<bool>{1, 0, 1, 1, 0, 1, 1, 1, 0, 0}, {2, 5});
    forward.build(x.shape());
    backward.build(x.shape());
    backward.set_weights(forward.weights());
    const Tensor got = backward(nn::with_mask(x, real)), want = forward(nn::with_mask(flip(x, {1}), flip(real, {1})));
    expect_close({got}, {want}, kind);
    EXPECT_TRUE(all_equal(nn::mask_of(got), nn::mask_of(want))) << kind;
  }
}

// The formulas of SimpleRNN as your own cell, with an output of another size.
class WideCell : public Cell {
 public:
  std::vector<int64_t> state_sizes() const override { return {3}; }
  int64_t output_size() const override { return 6; }
  void build(const Shape& input) override {
    kernel_ = weight("kernel", {input[1], 3});
    recurrent_ = weight("recurrent_kernel", {3, 3});
    bias_ = weight("bias", {3});
  }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states, const CallContext&) override {
    const Tensor h = tanh(matmul(input, kernel_) + bias_ + matmul(states[0], recurrent_));
    return {concat({h, h * h}, {.axis = -1}), {h}};
  }

 private:
  Variable kernel_, recurrent_, bias_;
};

TEST(Recurrent, a_cell_of_ones_own_is_walked_like_ours) {
  for (const bool sequences : {false, true}) {
    for (const bool masked : {false, true}) {
      const SimpleRNN ours(3, {.return_sequences = sequences, .zero_output_for_mask = true, .dtype = Dtype::f64});
      RNN own(WideCell(), {.return_sequences = sequences, .zero_output_for_mask = true, .dtype = Dtype::f64});
      ours.build({2, 4, 4});
      own.build({2, 4, 4});
      own.set_weights(ours.weights());
      Tensor x = f64_normal({2, 4, 4});
      if (masked) x = nn::with_mask(x, tensor({{true, false, true, false}, {false, true, true, true}}));
      const Recurrence want = ours.run(x), got = own.run(x);
      expect_close(got.states, want.states, "states");
      expect_close({got.output}, {concat({want.output, want.output * want.output}, {.axis = -1})}, "output");
    }
  }
  const RNN own(WideCell(), {.dtype = Dtype::f64});
  EXPECT_TRUE(all_equal(own(zeros({2, 0, 4})), zeros({2, 6}, {.dtype = Dtype::f64}))) << "an output that is no state starts at 0";
}

// An encoder whose states start a decoder, in the functional spelling.
TEST(Recurrent, states_are_handed_on_between_layers_of_a_model) {
  const LSTM encoder(3), decoder(3, {.return_sequences = true});
  const Dense last(2);
  const Tensor source = input({dynamic, 4}, {.name = "source"}), target = input({dynamic, 2}, {.name = "target"});
  const Tensor decoded = decoder.run(target, encoder.run(source).states).output;
  const Model model({.inputs = {source, target}, .outputs = {last(decoded)}});
  const Tensor x = random::normal({2, 5, 4}), y = random::normal({2, 3, 2});
  const Tensor want = last(decoder.run(y, encoder.run(x).states).output);
  EXPECT_TRUE(all_close(model({x, y}), want, {.absolute = 1e-6}));
  EXPECT_EQ(model.parameter_count(), encoder.parameter_count() + decoder.parameter_count() + last.parameter_count());

  const Tensor rows = input({dynamic, 4}, {.ragged = true});
  const GRU per_row(2, {.return_sequences = true});
  const Recurrence found = per_row.run(rows);
  const Model both({.inputs = {rows}, .outputs = {GlobalMaxPooling1D()(found.output) + found.states[0]}});
  const Tensor words = ragged_from_lengths(random::normal({4, 4}), tensor({3, 1}));
  const Recurrence direct = per_row.run(words);
  EXPECT_TRUE(all_close(both(words), max(direct.output, {.axes = {1}}) + direct.states[0], {.absolute = 1e-6}));
}

// A cell made of layers.
class DenseCell : public Cell {
 public:
  std::vector<int64_t> state_sizes() const override { return {3}; }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states, const CallContext&) override {
    const Tensor h = tanh(of_input_(input) + of_state_(states[0]));
    return {h, {h}};
  }

 private:
  Dense of_input_ = child(Dense(3, {.dtype = Dtype::f64}));
  Dense of_state_ = child(Dense(3, {.use_bias = false, .dtype = Dtype::f64}));
};

TEST(Recurrent, a_cell_may_hold_layers) {
  RNN own(DenseCell(), {.dtype = Dtype::f64});
  own.build({dynamic, dynamic, 4});
  EXPECT_EQ(own.parameter_count(), 4 * 3 + 3 + 3 * 3);
  const SimpleRNN ours(3, {.dtype = Dtype::f64});
  ours.build({2, 4, 4});
  const std::vector<Tensor> weights = ours.weights();
  own.set_weights({weights[0], weights[2], weights[1]});
  const Tensor x = f64_normal({2, 4, 4});
  expect_close({own(x)}, {ours(x)}, "layers");
  const Model model = Sequential(own, Dense(1));
  model.build({dynamic, dynamic, 4});
  EXPECT_NE(model.summary().find("rnn (RNN)"), std::string::npos) << model.summary();
}

TEST(Recurrent, dropout_takes_the_same_features_at_every_step) {
  const SimpleRNN layer(50, {.activation = {},
                             .kernel_initializer = identity_matrix(),
                             .recurrent_initializer = "zeros",
                             .dropout = 0.5,
                             .return_sequences = true});
  const Tensor x = ones({2, 3, 50});
  const std::vector<float> got = layer(x, {.training = true}).to_vector<float>();
  int dropped = 0, differing = 0;
  for (size_t i = 0; i < 50; ++i) {
    for (size_t row = 0; row < 2; ++row) {
      const float first = got[row * 150 + i];
      EXPECT_TRUE(first == 0 || first == 2) << first;
      EXPECT_EQ(got[row * 150 + 50 + i], first);
      EXPECT_EQ(got[row * 150 + 100 + i], first);
      dropped += first == 0 ? 1 : 0;
    }
    differing += got[i] != got[150 + i] ? 1 : 0;
  }
  EXPECT_GT(dropped, 20);
  EXPECT_LT(dropped, 80);
  EXPECT_GT(differing, 5) << "rows have features of their own";
  EXPECT_TRUE(all_equal(layer(x), x)) << "nothing is dropped outside training";
}

TEST(Recurrent, recurrent_dropout_is_of_the_states_way_into_the_product) {
  const SimpleRNN layer(50, {.activation = {},
                             .kernel_initializer = "zeros",
                             .recurrent_initializer = identity_matrix(),
                             .recurrent_dropout = 0.5,
                             .return_sequences = true});
  const Tensor x = ones({1, 3, 2});
  const Tensor start = ones({1, 50});
  const std::vector<float> got = layer.run(x, {start}, {.training = true}).output.to_vector<float>();
  int dropped = 0;
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_TRUE((got[i] == 2 && got[50 + i] == 4 && got[100 + i] == 8) || (got[i] == 0 && got[50 + i] == 0)) << got[i];
    dropped += got[i] == 0 ? 1 : 0;
  }
  EXPECT_GT(dropped, 5);
  EXPECT_LT(dropped, 45);
  for (const AnyLayer& each :
       {AnyLayer(LSTM(3, {.dropout = 0.3, .recurrent_dropout = 0.3})), AnyLayer(GRU(3, {.recurrent_dropout = 0.3}))}) {
    auto step = function([&](Tensor input) { return each(input, {.training = true}); }, {.name = "dropped"});
    EXPECT_EQ(step(ones({2, 3, 4})).shape()[1].value(), 3);
    EXPECT_EQ(step(ones({5, 1, 4})).shape()[0].value(), 5);
    EXPECT_EQ(step.stats().traces, 1);
  }
}

TEST(Recurrent, weights_start_as_keras_has_them) {
  const LSTM layer(2);
  layer.build({1, 1, 3});
  EXPECT_EQ(layer.weights()[2].to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0}));
  const Tensor recurrent = layer.weights()[1];
  EXPECT_TRUE(all_close(matmul(recurrent, transpose(recurrent)), eye(2), {.absolute = 1e-6}));
  const LSTM plain(2, {.unit_forget_bias = false});
  plain.build({1, 1, 3});
  EXPECT_EQ(plain.weights()[2].to_vector<float>(), std::vector<float>(8, 0));
}

TEST(Recurrent, a_clone_has_weights_of_its_own) {
  for (const std::string& kind : recurrent_layers) {
    const RecurrentLayer layer = make_recurrent(kind);
    const Tensor x = f64_normal({2, 3, 4});
    const Tensor want = layer(x);
    const AnyLayer copy = layer.clone();
    for (const Variable& variable : layer.variables()) variable.assign(variable.read() * 2);
    EXPECT_TRUE(all_equal(copy(x), want)) << kind;
    EXPECT_FALSE(all_equal(layer(x), want)) << kind;
  }
}

TEST(Recurrent, what_does_not_fit_is_refused_by_name) {
  expect_refused<ShapeError>([] { LSTM(3)(ones({2, 4})); }, "LSTM: the input is [2, 4]; expected [batch, time, features].");
  expect_refused<ArgumentError>([] { LSTM(3).run(ones({2, 1, 4}), {ones({2, 3})}); }, "LSTM: got 1 initial states; expected 2 or none.");
  expect_refused<ShapeError>([] { GRU(3).run(ones({2, 1, 4}), {ones({3})}); }, "GRU: initial state 0 is f32[3]; expected [batch, 3].");
  expect_refused<ShapeError>([] { GRU(3).run(ones({2, 1, 4}), {ones({2, 4})}); }, "GRU: initial state 0 is f32[2, 4]; expected [2, 3].");
  expect_refused<ArgumentError>([] { GRU(0); }, "GRU: units is 0; expected at least 1.");
  expect_refused<ArgumentError>([] { LSTM(1, {.dropout = 1}); }, "LSTM: dropout is 1; expected 0 <= rate < 1.");
  expect_refused<ArgumentError>([] { SimpleRNN(1, {.recurrent_dropout = -1}); }, "SimpleRNN: recurrent_dropout is -1");
  expect_refused<ArgumentError>([] { RNN(AnyLayer(Dense(2))); }, "RNN: the cell is Dense; expected a class that derives from Cell.");

  struct Odd : PeepholeCell {
    explicit Odd(int64_t states) : PeepholeCell(2), states_(states) {}
    std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states, const CallContext&) override {
      if (states_ == 1) return {states[0], {states[0]}};
      return {input, states};
    }
    int64_t states_;
  };
  expect_refused<ArgumentError>([] { RNN{Odd(1)}(ones({2, 1, 4})); }, "RNN: a step gives 1 states; expected 2, as state_sizes() says.");
  expect_refused<ShapeError>([] { RNN{Odd(2)}(ones({2, 1, 4})); },
                             "RNN: the output of a step is f32[2, 4]; expected [rows, 2], as output_size() says.");
}

}  // namespace
}  // namespace anyshape::test
