// What SimpleRNN, LSTM and GRU share: a product of the input, one of the state, and a bias, each for all gates side by side.
#pragma once
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/ops.h>

#include <utility>
#include <vector>

namespace anyshape::nn {

template <class Options>
class GatedLayer : public SteppedLayer {
 protected:
  GatedLayer(const char* type, int64_t gates, int64_t units, Options options)
      : SteppedLayer(type, walk_of(options)), units_(units), options_(std::move(options)), gates_(gates) {
    require_positive(type, "units", units);
    require_rate(type, "dropout", options_.dropout);
    require_rate(type, "recurrent_dropout", options_.recurrent_dropout);
  }

  virtual Shape bias_shape() const { return {gates_ * units_}; }
  virtual Initializer bias_start() const { return options_.bias_initializer; }

  void make_weights(const Shape& input) override {
    kernel_ = weight("kernel", {input[-1], gates_ * units_},
                     {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    recurrent_kernel_ = weight("recurrent_kernel", {units_, gates_ * units_},
                               {.initializer = options_.recurrent_initializer, .regularizer = options_.recurrent_regularizer});
    if (options_.use_bias) bias_ = weight("bias", bias_shape(), {.initializer = bias_start(), .regularizer = options_.bias_regularizer});
  }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  double dropout() const override { return options_.dropout; }
  double recurrent_dropout() const override { return options_.recurrent_dropout; }
  Tensor project(const Tensor& x) override { return matmul(x, kernel_); }

  int64_t units_;
  Options options_;
  Variable kernel_, recurrent_kernel_, bias_;

 private:
  Dim gates_;  // as sizes are, so that a number of units out of a file cannot overflow
};

}  // namespace anyshape::nn
