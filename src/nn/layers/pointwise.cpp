// Layers that change elements one by one: Activation, Rescaling, Dropout; and Lambda, which does what the user says.
#include "base/option_rules.h"
#include "nn/make_layer.h"
#include "nn/named_activation.h"
#include "nn/own_numbers.h"

#include <anyshape/layers/core.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

namespace anyshape {
namespace {

class PointwiseLayer : public Layer {
 public:
  using Layer::Layer;
  bool supports_masking() const override { return true; }
};

class ActivationLayer final : public PointwiseLayer {
 public:
  ActivationLayer(ActivationFunction activation, const LayerOptions&) : PointwiseLayer("Activation"), activation_(std::move(activation)) {}
  Tensor call(const Tensor& x, const CallContext&) override { return nn::activate(activation_, x); }

 private:
  ActivationFunction activation_;
};

class LambdaLayer final : public Layer {  // what it does to a mask nobody knows: it drops it, as Keras's does
 public:
  LambdaLayer(std::function<Tensor(const Tensor&)> callable, const LayerOptions&)
      : Layer("Lambda"), callable_(require::callable("Lambda", "the callable", std::move(callable))) {}
  Tensor call(const Tensor& x, const CallContext&) override { return callable_(x); }

 private:
  std::function<Tensor(const Tensor&)> callable_;
};

class RescalingLayer final : public PointwiseLayer {
 public:
  RescalingLayer(double scale, const nn::RescalingOptions& options)
      : PointwiseLayer("Rescaling"),
        scale_(require::finite("Rescaling", "scale", scale)),
        offset_(require::finite("Rescaling", "offset", options.offset)) {}
  Tensor call(const Tensor& x, const CallContext&) override { return cast(x, dtype()) * scale_ + offset_; }

 private:
  double scale_, offset_;
};

class DropoutLayer final : public PointwiseLayer {
 public:
  DropoutLayer(double rate, const DropoutOptions& options) : PointwiseLayer("Dropout"), rate_(rate), numbers_(options.seed) {
    nn::require_rate("Dropout", "the rate", rate);
  }

  void build(const Shape&) override { numbers_.build(*this); }

  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || rate_ == 0) return x;
    if (x.is_ragged()) return with_rows_of(dropped(x.values()), x);
    return dropped(x);
  }

 private:
  Tensor dropped(const Tensor& x) const {
    const Tensor kept = numbers_.uniform(x.shape(), x.dtype()) >= rate_;
    return where(kept, x * (1 / (1 - rate_)), 0);
  }

  double rate_;
  nn::OwnNumbers numbers_;
};

}  // namespace

Activation::Activation(ActivationFunction activation, LayerOptions options)
    : AnyLayer(nn::make_layer<ActivationLayer>(options, nn::ActivationArguments{std::move(activation)})) {}
Lambda::Lambda(std::function<Tensor(const Tensor&)> callable, LayerOptions options)
    : AnyLayer(nn::make_layer<LambdaLayer>(options, nn::LambdaArguments{std::move(callable)})) {}
Rescaling::Rescaling(double scale, double offset, LayerOptions options)
    : AnyLayer(nn::make_layer<RescalingLayer>(nn::RescalingOptions{offset, options.name, options.dtype}, nn::RescalingArguments{scale})) {}
Dropout::Dropout(double rate, DropoutOptions options) : AnyLayer(nn::make_layer<DropoutLayer>(options, nn::DropoutArguments{rate})) {}

}  // namespace anyshape
