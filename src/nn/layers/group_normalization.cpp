// GroupNormalization: each row by itself, in groups of channels, over all axes. A masked step does not count.
#include "base/option_rules.h"
#include "graph/layer_path.h"
#include "nn/make_layer.h"
#include "nn/notes.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

class GroupNormalizationLayer final : public Layer {
 public:
  explicit GroupNormalizationLayer(GroupNormalizationOptions options) : Layer("GroupNormalization"), options_(std::move(options)) {
    require::positive("GroupNormalization", "epsilon", options_.epsilon);
    if (options_.groups == 0 || options_.groups < -1)
      throw ArgumentError(
          fmt::format("GroupNormalization: groups is {}; expected at least 1, or -1 for as many as channels.", options_.groups));
  }

  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    const Dim channels = input[nn::axis_of(*this, options_.axis, input.rank())];
    if (channels.is_constant() && options_.groups > 0 && channels.value() % options_.groups != 0) {
      throw ShapeError(
          fmt::format("GroupNormalization: x has {} channels and groups is {}; expected a number of groups that divides them.{}",
                      channels.value(), options_.groups, current_place()));
    }
    if (options_.scale) gamma_ = weight("gamma", {channels}, {.initializer = options_.gamma_initializer});
    if (options_.center) beta_ = weight("beta", {channels}, {.initializer = options_.beta_initializer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    if (x.is_ragged()) {
      throw ShapeError(fmt::format("GroupNormalization: x is {}; expected a dense tensor. Use to_padded, whose padding does not count.{}",
                                   describe(x), current_place()));
    }
    const int channel = nn::axis_of(*this, options_.axis, x.rank());
    const Shape shape = x.shape();
    const Dim groups = options_.groups > 0 ? Dim(options_.groups) : shape[channel];
    Shape apart, channels_alone;
    std::vector<int64_t> axes;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (axis != 0) axes.push_back(axis < channel ? axis : axis + 1);
      apart.push_back(axis == channel ? groups : shape[axis]);
      if (axis == channel) apart.push_back(shape[axis] / groups);
      channels_alone.push_back(axis == channel ? shape[axis] : Dim(1));
    }
    Tensor result = reshape(normalised(reshape(x, apart), axes, nn::mask_of(x)), shape);
    if (options_.scale) result = result * reshape(gamma_, channels_alone);
    if (options_.center) result = result + reshape(beta_, channels_alone);
    return result;
  }

 private:
  // To mean 0 and variance 1 over these axes.
  Tensor normalised(const Tensor& x, const std::vector<int64_t>& axes, Tensor real) const {
    while (real.defined() && real.rank() < x.rank()) real = expand_dims(real, -1);
    const auto average = [&](const Tensor& values) {
      if (!real.defined()) return mean(values, {.axes = axes, .keep_dims = true});
      const Tensor count = sum(where(real, ones_like(values), 0), {.axes = axes, .keep_dims = true});
      return sum(where(real, values, 0), {.axes = axes, .keep_dims = true}) / maximum(count, 1);
    };
    const Tensor distance = x - average(x);
    return distance * rsqrt(average(square(distance)) + options_.epsilon);
  }

  GroupNormalizationOptions options_;
  Variable gamma_, beta_;
};

}  // namespace

GroupNormalization::GroupNormalization(GroupNormalizationOptions options) : AnyLayer(nn::make_layer<GroupNormalizationLayer>(options)) {}

}  // namespace anyshape
