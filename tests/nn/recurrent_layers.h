// Every recurrent layer in f64, and what a call of one gives with all its gradients: for tests that hold for each of them.
#pragma once
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace anyshape::test {

// A cell of a user's: an LSTM whose gates see the cell state, with an output that is none of its states.
class PeepholeCell : public Cell {
 public:
  explicit PeepholeCell(int64_t units) : units_(units) {}
  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }
  void build(const Shape& input) override {
    kernel_ = weight("kernel", {input[1], 4 * units_});
    recurrent_ = weight("recurrent_kernel", {units_, 4 * units_}, {.initializer = "orthogonal"});
    peephole_ = weight("peephole", {3, units_});
  }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states, const CallContext&) override {
    const Tensor &h = states[0], &c = states[1];
    const std::vector<Tensor> gates = split(matmul(input, kernel_) + matmul(h, recurrent_), 4, {.axis = -1});
    const std::vector<Tensor> peepholes = split(peephole_, 3);
    const Tensor next = sigmoid(gates[1] + peepholes[1] * c) * c + sigmoid(gates[0] + peepholes[0] * c) * tanh(gates[2]);
    const Tensor shown = sigmoid(gates[3] + peepholes[2] * next) * tanh(next);
    return {shown * 2, {shown, next}};
  }

 private:
  int64_t units_;
  Variable kernel_, recurrent_, peephole_;
};

inline const std::vector<std::string> recurrent_layers = {"SimpleRNN", "LSTM", "GRU", "GRU_reset_before", "RNN", "Bidirectional"};

struct WalkOptions {
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
};

// Three units each, in f64.
inline RecurrentLayer make_recurrent(const std::string& kind, WalkOptions walk = {}) {
  const auto with = [&](auto options) {
    options.return_sequences = walk.return_sequences;
    options.go_backwards = walk.go_backwards;
    options.zero_output_for_mask = walk.zero_output_for_mask;
    options.dtype = Dtype::f64;
    return options;
  };
  if (kind == "SimpleRNN") return SimpleRNN(3, with(RecurrentOptions{}));
  if (kind == "LSTM") return LSTM(3, with(LstmOptions{}));
  if (kind == "GRU") return GRU(3, with(GruOptions{}));
  if (kind == "GRU_reset_before") return GRU(3, with(GruOptions{.reset_after = false}));
  if (kind == "RNN") return RNN(PeepholeCell(3), with(RnnOptions{}));
  return Bidirectional(GRU(3, with(GruOptions{})), {.dtype = Dtype::f64});
}

struct Pulled {
  Tensor output;
  std::vector<Tensor> states;
  std::vector<Tensor> input_gradients;  // of x's values, then of the initial states
  std::vector<Tensor> weight_gradients;

  std::vector<Tensor> all() const {
    std::vector<Tensor> tensors{output.values()};
    for (const std::vector<Tensor>* group : {&states, &input_gradients, &weight_gradients})
      tensors.insert(tensors.end(), group->begin(), group->end());
    return tensors;
  }
};

// A call and all its gradients. What is differentiated gives every element of output and states another weight than its value.
// `prepare` makes the layer's input of x: with a mask, in rows.
template <class Prepare>
Pulled pull(const RecurrentLayer& layer, const Tensor& x, const std::vector<Tensor>& initial, Prepare prepare) {
  GradientTape tape({.persistent = true});
  std::vector<Tensor> sources{x};
  sources.insert(sources.end(), initial.begin(), initial.end());
  for (const Tensor& source : sources) tape.watch(source);
  const Recurrence found = layer.run(prepare(x), initial);
  Tensor loss = sum(square(found.output.values()) + found.output.values());
  for (const Tensor& state : found.states) loss = loss + sum(square(state) - 3 * state);
  return {.output = found.output,
          .states = found.states,
          .input_gradients = tape.gradient(loss, sources, {.unreached = Unreached::Zeros}),
          .weight_gradients = tape.gradient(loss, layer.trainable_variables(), {.unreached = Unreached::Zeros})};
}

inline void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(to_string(got[i].shape()), to_string(want[i].shape())) << what << ", tensor " << i;
    EXPECT_TRUE(all_close(got[i], want[i], {.relative = 1e-9, .absolute = 1e-10})) << what << ", tensor " << i << "\n"
                                                                                   << to_string(got[i]) << "\n"
                                                                                   << to_string(want[i]);
  }
}

inline Tensor f64_normal(const Shape& shape) { return random::normal(shape, {.dtype = Dtype::f64}); }

inline std::vector<Tensor> random_states(const std::string& kind, int64_t rows) {
  const size_t count = kind == "LSTM" || kind == "RNN" || kind == "Bidirectional" ? 2 : 1;
  std::vector<Tensor> states;
  for (size_t i = 0; i < count; ++i) states.push_back(f64_normal({rows, 3}));
  return states;
}

}  // namespace anyshape::test
