// BatchNormalization: every channel to mean 0 and variance 1 over the batch while training, by the moving statistics afterwards.
// Statistics are those of real elements: a masked step and the padding of a ragged batch do not count.
#include "nn/annotations.h"
#include "nn/make_layer.h"

#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct Statistics {
  Tensor mean;
  Tensor variance;
};

// Over all axes but `channel`, of the elements whose weight is not 0 where there is one.
Statistics statistics_of(const Tensor& x, const Tensor& real, int channel) {
  std::vector<int64_t> axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != channel) axes.push_back(axis);
  }
  if (!real.defined()) {
    const Tensor average = mean(x, {.axes = axes});
    const Tensor spread = mean(square(x), {.axes = axes}) - square(average);
    return {average, maximum(spread, 0)};
  }
  const Tensor weight = broadcast_to(real, x.shape());
  const Tensor count = sum(weight, {.axes = axes});
  const Tensor average = sum(x * weight, {.axes = axes}) / count;
  Shape around;
  for (int axis = 0; axis < x.rank(); ++axis) around.push_back(axis == channel ? x.shape()[axis] : Dim(1));
  const Tensor distance = (x - reshape(average, around)) * weight;
  return {average, sum(square(distance), {.axes = axes}) / count};
}

class BatchNormalizationLayer final : public Layer {
 public:
  explicit BatchNormalizationLayer(BatchNormalizationOptions options) : Layer("BatchNormalization"), options_(std::move(options)) {}

  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    const Shape sizes{input[options_.axis]};
    if (options_.scale) gamma_ = weight("gamma", sizes, {.initializer = options_.gamma_initializer});
    if (options_.center) beta_ = weight("beta", sizes, {.initializer = options_.beta_initializer});
    moving_mean_ = weight("moving_mean", sizes, {.initializer = "zeros", .trainable = false});
    moving_variance_ = weight("moving_variance", sizes, {.initializer = "ones", .trainable = false});
  }

  Tensor call(const Tensor& x, const CallContext& context) override {
    const int channel = options_.axis < 0 ? options_.axis + x.rank() : options_.axis;
    Statistics used{moving_mean_, moving_variance_};
    if (context.training && state().is_trainable) {
      used = x.is_ragged() ? statistics_of(x.values(), {}, channel - 1) : statistics_of(x, real_elements(x), channel);
      const double momentum = options_.momentum;
      moving_mean_.assign(moving_mean_.read() * momentum + used.mean * (1 - momentum));
      moving_variance_.assign(moving_variance_.read() * momentum + used.variance * (1 - momentum));
    }
    Tensor factor = rsqrt(used.variance + options_.epsilon);
    if (options_.scale) factor = factor * gamma_;
    Tensor shift = -used.mean * factor;
    if (options_.center) shift = shift + beta_;
    Shape around;
    for (int axis = channel; axis < x.rank(); ++axis) around.push_back(axis == channel ? factor.shape()[0] : Dim(1));
    return x * reshape(factor, around) + reshape(shift, around);
  }

 private:
  // 1 where a step is real, broadcastable against x; undefined where there is no mask.
  static Tensor real_elements(const Tensor& x) {
    Tensor mask = nn::mask_of(x);
    if (!mask.defined()) return {};
    mask = cast(mask, x.dtype());
    while (mask.rank() < x.rank()) mask = expand_dims(mask, -1);
    return mask;
  }

  BatchNormalizationOptions options_;
  Variable gamma_, beta_, moving_mean_, moving_variance_;
};

}  // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options) : AnyLayer(nn::make_layer<BatchNormalizationLayer>(options)) {}

}  // namespace anyshape
