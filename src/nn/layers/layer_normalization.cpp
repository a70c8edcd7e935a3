// LayerNormalization: every row to mean 0 and variance 1 over the given axes, then scaled and shifted.
#include "base/option_rules.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape {
namespace {

class LayerNormalizationLayer final : public Layer {
 public:
  explicit LayerNormalizationLayer(LayerNormalizationOptions options) : Layer("LayerNormalization"), options_(std::move(options)) {
    if (options_.axes.empty()) throw ArgumentError("LayerNormalization: axes is empty; expected at least one axis.");
    if (options_.axis && options_.axes != LayerNormalizationOptions().axes && options_.axes != std::vector<int>{*options_.axis})
      throw ArgumentError("LayerNormalization: axis and axes are given; expected one of them.");
    require::positive("LayerNormalization", "epsilon", options_.epsilon);
  }

  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    Shape sizes;
    for (const int axis : ascending(input.rank())) sizes.push_back(input[axis]);
    if (options_.scale) gamma_ = weight("gamma", sizes, {.initializer = options_.gamma_initializer});
    if (options_.center) beta_ = weight("beta", sizes, {.initializer = options_.beta_initializer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    const std::vector<int> axes = ascending(x.rank());
    const std::vector<int64_t> over(axes.begin(), axes.end());
    const Tensor centred = x - mean(x, {.axes = over, .keep_dims = true});
    const Tensor variance = mean(square(centred), {.axes = over, .keep_dims = true});
    Tensor result = centred * rsqrt(variance + options_.epsilon);
    if (options_.scale) result = result * spread(gamma_, axes, x.rank());
    if (options_.center) result = result + spread(beta_, axes, x.rank());
    return result;
  }

 private:
  std::vector<int> ascending(int rank) const {
    std::vector<int> axes;
    for (const int axis : options_.axis ? std::vector<int>{*options_.axis} : options_.axes) axes.push_back(nn::axis_of(*this, axis, rank));
    std::ranges::sort(axes);
    return axes;
  }

  // The weight under a shape that broadcasts against the input: size 1 between and behind the normalised axes.
  static Tensor spread(const Tensor& weight, const std::vector<int>& axes, int rank) {
    Shape shape;
    for (int axis = axes.front(), next = 0; axis < rank; ++axis) {
      const bool is_own = next < static_cast<int>(axes.size()) && axes[static_cast<size_t>(next)] == axis;
      shape.push_back(is_own ? weight.shape()[next++] : Dim(1));
    }
    return reshape(weight, shape);
  }

  LayerNormalizationOptions options_;
  Variable gamma_, beta_;
};

}  // namespace

LayerNormalization::LayerNormalization(LayerNormalizationOptions options) : AnyLayer(nn::make_layer<LayerNormalizationLayer>(options)) {}

}  // namespace anyshape
