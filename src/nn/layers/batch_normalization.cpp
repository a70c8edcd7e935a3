// BatchNormalization: every channel to mean 0 and variance 1 over the batch while training, by the moving statistics afterwards.
// Statistics are those of real elements: a masked step and the padding of a ragged batch do not count.
#include "base/option_rules.h"
#include "nn/make_layer.h"
#include "nn/notes.h"

#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct Statistics {
  Tensor mean;
  Tensor variance;
  Tensor count;  // of elements per channel: without any there is nothing to learn from
};

// A vector over the channels, to meet a tensor of this rank.
Tensor along_channels(const Tensor& vector, int channel, int rank) {
  Shape around{vector.shape()[0]};
  for (int axis = channel + 1; axis < rank; ++axis) around.push_back(1);
  return reshape(vector, around);
}

// Over all axes but `channel`, of the elements that `real` says are there; all, where it is undefined.
Statistics statistics_of(const Tensor& x, const Tensor& real, int channel) {
  std::vector<int64_t> axes;
  Tensor count = ones({}, {.dtype = x.dtype()});
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis == channel) continue;
    axes.push_back(axis);
    if (!real.defined()) count = count * cast(size(x, axis), x.dtype());
  }
  const auto where_real = [&](const Tensor& value) { return real.defined() ? where(real, value, 0) : value; };
  if (real.defined()) count = sum(where_real(ones_like(x)), {.axes = axes});
  const Tensor divisor = maximum(count, 1);
  const Tensor average = sum(where_real(x), {.axes = axes}) / divisor;
  const Tensor distance = where_real(x - along_channels(average, channel, x.rank()));
  return {average, sum(square(distance), {.axes = axes}) / divisor, count};
}

class BatchNormalizationLayer final : public Layer {
 public:
  explicit BatchNormalizationLayer(BatchNormalizationOptions options) : Layer("BatchNormalization"), options_(std::move(options)) {
    require::share("BatchNormalization", "momentum", options_.momentum);
    require::positive("BatchNormalization", "epsilon", options_.epsilon);
  }

  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    const Shape sizes{input[nn::axis_of(*this, options_.axis, input.rank())]};
    if (options_.scale) gamma_ = weight("gamma", sizes, {.initializer = options_.gamma_initializer});
    if (options_.center) beta_ = weight("beta", sizes, {.initializer = options_.beta_initializer});
    moving_mean_ = weight("moving_mean", sizes, {.initializer = "zeros", .trainable = false});
    moving_variance_ = weight("moving_variance", sizes, {.initializer = "ones", .trainable = false});
  }

  Tensor call(const Tensor& x, const CallContext& context) override {
    const int channel = nn::axis_of(*this, options_.axis, x.rank());
    Statistics used{moving_mean_, moving_variance_, {}};
    if (context.training && state().is_trainable) {
      used = x.is_ragged() ? statistics_of(x.values(), {}, channel - 1) : statistics_of(x, real_elements(x), channel);
      move(moving_mean_, used.mean, used.count);
      move(moving_variance_, used.variance, used.count);
    }
    Tensor factor = rsqrt(used.variance + options_.epsilon);
    if (options_.scale) factor = factor * gamma_;
    Tensor shift = -used.mean * factor;
    if (options_.center) shift = shift + beta_;
    return x * along_channels(factor, channel, x.rank()) + along_channels(shift, channel, x.rank());
  }

 private:
  void move(const Variable& average, const Tensor& current, const Tensor& count) const {
    const Tensor before = average.read();
    average.assign(where(count > 0, before * options_.momentum + current * (1 - options_.momentum), before));
  }

  // The mask, to meet x; undefined where there is none.
  static Tensor real_elements(const Tensor& x) {
    Tensor mask = nn::mask_of(x);
    while (mask.defined() && mask.rank() < x.rank()) mask = expand_dims(mask, -1);
    return mask;
  }

  BatchNormalizationOptions options_;
  Variable gamma_, beta_, moving_mean_, moving_variance_;
};

}  // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options) : AnyLayer(nn::make_layer<BatchNormalizationLayer>(options)) {}

}  // namespace anyshape
