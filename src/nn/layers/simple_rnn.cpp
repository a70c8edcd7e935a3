// SimpleRNN: h' = activation(x @ kernel + bias + h @ recurrent_kernel).
#include "nn/layers/gated.h"

namespace anyshape {
namespace {

class SimpleRnnLayer final : public nn::GatedLayer<RecurrentOptions> {
 public:
  SimpleRnnLayer(int64_t units, RecurrentOptions options) : GatedLayer("SimpleRNN", 1, units, std::move(options)) {}

 protected:
  Tensor project(const Tensor& x) override {
    const Tensor product = GatedLayer::project(x);
    return options_.use_bias ? product + bias_ : product;
  }

  Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor& kept, const CallContext&) override {
    const Tensor h = options_.activation(x + matmul(kept.defined() ? states[0] * kept : states[0], recurrent_kernel_));
    return {h, {h}};
  }
};

}  // namespace

SimpleRNN::SimpleRNN(int64_t units, RecurrentOptions options)
    : RecurrentLayer(nn::make_layer<SimpleRnnLayer>(options, nn::UnitsArguments{units}).layer()) {}

}  // namespace anyshape
