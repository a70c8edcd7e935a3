// Dense: activation(x @ kernel + bias) over the last axis. Ragged rows are no concern: it works on their elements.
#include "nn/make_layer.h"
#include "nn/named_activation.h"

#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

class DenseLayer final : public Layer {
 public:
  DenseLayer(int64_t units, DenseOptions options) : Layer("Dense"), units_(units), options_(std::move(options)) {
    nn::require_positive("Dense", "units", units);
  }

  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    kernel_ =
        weight("kernel", {input[-1], units_}, {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    if (options_.use_bias)
      bias_ = weight("bias", {units_}, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    Tensor result = matmul(x, kernel_);
    if (options_.use_bias) result = result + bias_;
    return nn::activate(options_.activation, result);
  }

 private:
  int64_t units_;
  DenseOptions options_;
  Variable kernel_, bias_;
};

}  // namespace

Dense::Dense(int64_t units, DenseOptions options) : AnyLayer(nn::make_layer<DenseLayer>(options, nn::UnitsArguments{units})) {}

}  // namespace anyshape
