// SimpleRNN: h' = activation(x @ kernel + bias + h @ recurrent_kernel).
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

class SimpleRnnLayer final : public nn::SteppedLayer {
 public:
  SimpleRnnLayer(int64_t units, RecurrentOptions options)
      : SteppedLayer("SimpleRNN", nn::walk_of(options)), units_(units), options_(std::move(options)) {
    nn::require_positive("SimpleRNN", "units", units);
    nn::require_rate("SimpleRNN", "dropout", options_.dropout);
    nn::require_rate("SimpleRNN", "recurrent_dropout", options_.recurrent_dropout);
  }

 protected:
  void make_weights(const Shape& input) override {
    kernel_ =
        weight("kernel", {input[-1], units_}, {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    recurrent_kernel_ = weight("recurrent_kernel", {units_, units_},
                               {.initializer = options_.recurrent_initializer, .regularizer = options_.recurrent_regularizer});
    if (options_.use_bias)
      bias_ = weight("bias", {units_}, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  double dropout() const override { return options_.dropout; }
  double recurrent_dropout() const override { return options_.recurrent_dropout; }

  Tensor project(const Tensor& x) override {
    const Tensor product = matmul(x, kernel_);
    return options_.use_bias ? product + bias_ : product;
  }

  Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor& kept, const CallContext&) override {
    const Tensor h = options_.activation(x + matmul(kept.defined() ? states[0] * kept : states[0], recurrent_kernel_));
    return {h, {h}};
  }

 private:
  int64_t units_;
  RecurrentOptions options_;
  Variable kernel_, recurrent_kernel_, bias_;
};

}  // namespace

SimpleRNN::SimpleRNN(int64_t units, RecurrentOptions options) : RecurrentLayer(nn::make_layer<SimpleRnnLayer>(options, units).layer()) {}

}  // namespace anyshape
