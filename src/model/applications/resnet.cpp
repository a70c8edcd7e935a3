// Residual networks. Layers have the names that Keras gives them: conv3_block1_2_bn.
#include "model/applications/head.h"

#include <anyshape/layers/core.h>
#include <anyshape/layers/image.h>
#include <anyshape/layers/normalization.h>

#include <array>

namespace anyshape::applications {
namespace {

constexpr double epsilon = 1.001e-5;
constexpr std::array<int64_t, 4> stage_filters = {64, 128, 256, 512};

struct Convolution {
  int64_t filters, size, stride = 1;
  Padding padding = "valid";
  bool use_bias = true;
};

Tensor convolved(const Tensor& x, const Convolution& convolution, const std::string& name) {
  const Conv2D layer(
      convolution.filters, convolution.size,
      {.strides = convolution.stride, .padding = convolution.padding, .use_bias = convolution.use_bias, .name = name + "_conv"});
  return BatchNormalization({.epsilon = epsilon, .name = name + "_bn"})(layer(x));
}

Tensor rectified(const Tensor& x, const std::string& name) { return Activation("relu", {.name = name})(x); }

Tensor joined(const Tensor& shortcut, const Tensor& x, const std::string& name) {
  return rectified(Add({.name = name + "_add"})({shortcut, x}), name + "_out");
}

// 1 x 1 to fewer channels, 3 x 3, 1 x 1 to four times as many; the first one strides.
Tensor bottleneck(const Tensor& x, int64_t filters, int64_t stride, bool has_own_shortcut, const std::string& name) {
  const Tensor shortcut = has_own_shortcut ? convolved(x, {4 * filters, 1, stride}, name + "_0") : x;
  Tensor inner = rectified(convolved(x, {filters, 1, stride}, name + "_1"), name + "_1_relu");
  inner = rectified(convolved(inner, {filters, 3, 1, "same"}, name + "_2"), name + "_2_relu");
  return joined(shortcut, convolved(inner, {4 * filters, 1}, name + "_3"), name);
}

Tensor pair(const Tensor& x, int64_t filters, int64_t stride, bool has_own_shortcut, const std::string& name) {
  const Tensor shortcut = has_own_shortcut ? convolved(x, {filters, 1, stride, "valid", false}, name + "_0") : x;
  const Tensor inner = rectified(convolved(x, {filters, 3, stride, 1, false}, name + "_1"), name + "_1_relu");
  return joined(shortcut, convolved(inner, {filters, 3, 1, 1, false}, name + "_2"), name);
}

using Block = Tensor (*)(const Tensor& x, int64_t filters, int64_t stride, bool has_own_shortcut, const std::string& name);
struct Plan {
  Block block;
  std::array<int, 4> blocks;  // per stage
  bool widens;                // the first stage has more channels than come in
  bool use_bias;
};

Model resnet(const char* network, const Plan& plan, const ApplicationOptions& options) {
  const Tensor image = image_input(network, options);
  Tensor x = ZeroPadding2D(3, {.name = "conv1_pad"})(image);
  x = rectified(convolved(x, {64, 7, 2, "valid", plan.use_bias}, "conv1"), "conv1_relu");
  x = ZeroPadding2D(1, {.name = "pool1_pad"})(x);
  x = MaxPooling2D(3, {.strides = 2, .name = "pool1_pool"})(x);
  for (size_t stage = 0; stage < stage_filters.size(); ++stage) {
    for (int block = 1; block <= plan.blocks[stage]; ++block) {
      const bool is_first = block == 1;
      const int64_t stride = is_first && stage > 0 ? 2 : 1;
      const std::string name = "conv" + std::to_string(stage + 2) + "_block" + std::to_string(block);
      x = plan.block(x, stage_filters[stage], stride, is_first && (stage > 0 || plan.widens), name);
    }
  }
  if (!options.include_top) return finished(network, options, image, pooled(x, options));
  x = GlobalAveragePooling2D({.name = "avg_pool"})(x);
  x = Dense(options.classes, {.activation = options.classifier_activation, .name = "predictions"})(x);
  return finished(network, options, image, x);
}

}  // namespace

Model resnet18(ApplicationOptions options) {
  return resnet("resnet18", {.block = pair, .blocks = {2, 2, 2, 2}, .widens = false, .use_bias = false}, options);
}
Model resnet50(ApplicationOptions options) {
  return resnet("resnet50", {.block = bottleneck, .blocks = {3, 4, 6, 3}, .widens = true, .use_bias = true}, options);
}

}  // namespace anyshape::applications
