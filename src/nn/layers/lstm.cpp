// LSTM: gates i, f, g, o from x @ kernel + bias + h @ recurrent_kernel; c' = f * c + i * activation(g), h' = o * activation(c').
#include "nn/layers/gated.h"

namespace anyshape {
namespace {

class LstmLayer final : public nn::GatedLayer<LstmOptions> {
 public:
  LstmLayer(int64_t units, LstmOptions options) : GatedLayer("LSTM", 4, units, std::move(options)) {}

 protected:
  // The part of the forget gate starts at 1, so that cells remember at first.
  Initializer bias_start() const override {
    if (!options_.unit_forget_bias) return options_.bias_initializer;
    return [start = options_.bias_initializer, units = units_](const Shape&, Dtype dtype) {
      const Tensor before = start({units}, dtype);
      const Tensor behind = start({2 * units}, dtype);
      return concat({before, ones({units}, {.dtype = dtype}), behind});
    };
  }

  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }

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
};

}  // namespace

LSTM::LSTM(int64_t units, LstmOptions options) : RecurrentLayer(nn::make_layer<LstmLayer>(options, nn::UnitsArguments{units}).layer()) {}

}  // namespace anyshape
