// LSTM: gates i, f, g, o from x @ kernel + bias + h @ recurrent_kernel; c' = f * c + i * activation(g), h' = o * activation(c').
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

class LstmLayer final : public nn::SteppedLayer {
 public:
  LstmLayer(int64_t units, LstmOptions options) : SteppedLayer("LSTM", nn::walk_of(options)), units_(units), options_(std::move(options)) {
    nn::require_positive("LSTM", "units", units);
    nn::require_rate("LSTM", "dropout", options_.dropout);
    nn::require_rate("LSTM", "recurrent_dropout", options_.recurrent_dropout);
  }

 protected:
  void make_weights(const Shape& input) override {
    kernel_ =
        weight("kernel", {input[-1], 4 * units_}, {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    recurrent_kernel_ = weight("recurrent_kernel", {units_, 4 * units_},
                               {.initializer = options_.recurrent_initializer, .regularizer = options_.recurrent_regularizer});
    if (options_.use_bias) bias_ = weight("bias", {4 * units_}, {.initializer = bias_start(), .regularizer = options_.bias_regularizer});
  }
  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }
  double dropout() const override { return options_.dropout; }
  double recurrent_dropout() const override { return options_.recurrent_dropout; }

  Tensor project(const Tensor& x) override { return matmul(x, kernel_); }

  Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor& kept, const CallContext&) override {
    const Tensor given = kept.defined() ? states[0] * kept : states[0];
    const Tensor product = x + matmul(given, recurrent_kernel_);
    // In the step it costs nothing; before the loop it would be one more pass over the memory of all steps.
    const std::vector<Tensor> gates = split(options_.use_bias ? product + bias_ : product, 4, {.axis = -1});
    const Tensor input = options_.recurrent_activation(gates[0]), forget = options_.recurrent_activation(gates[1]);
    const Tensor c = forget * states[1] + input * options_.activation(gates[2]);
    const Tensor h = options_.recurrent_activation(gates[3]) * options_.activation(c);
    return {h, {h, c}};
  }

 private:
  // The part of the forget gate starts at 1, so that cells remember at first.
  Initializer bias_start() const {
    if (!options_.unit_forget_bias) return options_.bias_initializer;
    return [start = options_.bias_initializer, units = units_](const Shape&, Dtype dtype) {
      const Tensor before = start({units}, dtype);
      const Tensor behind = start({2 * units}, dtype);
      return concat({before, ones({units}, {.dtype = dtype}), behind});
    };
  }

  int64_t units_;
  LstmOptions options_;
  Variable kernel_, recurrent_kernel_, bias_;
};

}  // namespace

LSTM::LSTM(int64_t units, LstmOptions options) : RecurrentLayer(nn::make_layer<LstmLayer>(options, units).layer()) {}

}  // namespace anyshape
