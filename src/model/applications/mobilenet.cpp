// MobileNet: a convolution of every channel, then one that looks at one place only, thirteen times. Layers have the names that Keras gives them.
#include "model/applications/head.h"

#include <anyshape/layers/core.h>
#include <anyshape/layers/image.h>
#include <anyshape/layers/normalization.h>

#include <utility>
#include <vector>

namespace anyshape::applications {
namespace {

Tensor normalised(const Tensor& x, const std::string& name) {
  return Activation("relu6", {.name = name + "_relu"})(BatchNormalization({.name = name + "_bn"})(x));
}

Tensor separable(Tensor x, int64_t filters, int64_t stride, int block) {
  const std::string number = std::to_string(block);
  if (stride == 2) x = ZeroPadding2D({{0, 1}, {0, 1}}, {.name = "conv_pad_" + number})(x);
  const DepthwiseConv2D by_channel(
      3, {.strides = stride, .padding = stride == 1 ? "same" : "valid", .use_bias = false, .name = "conv_dw_" + number});
  const Conv2D by_place(filters, 1, {.padding = "same", .use_bias = false, .name = "conv_pw_" + number});
  return normalised(by_place(normalised(by_channel(x), "conv_dw_" + number)), "conv_pw_" + number);
}

// Filters and stride of each block.
const std::vector<std::pair<int64_t, int64_t>> blocks = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                                         {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};

}  // namespace

Model mobilenet(ApplicationOptions options) {
  const Tensor image = image_input("mobilenet", options);
  Tensor x = normalised(Conv2D(32, 3, {.strides = 2, .padding = "same", .use_bias = false, .name = "conv1"})(image), "conv1");
  int block = 0;
  for (const auto& [filters, stride] : blocks) x = separable(x, filters, stride, ++block);
  if (!options.include_top) return finished("mobilenet", options, image, pooled(x, options));
  x = GlobalAveragePooling2D({.keepdims = true, .name = "global_average_pooling2d"})(x);
  x = Dropout(1e-3, {.name = "dropout"})(x);
  x = Conv2D(options.classes, 1, {.padding = "same", .name = "conv_preds"})(x);
  x = Reshape({options.classes}, {.name = "reshape_2"})(x);
  return finished("mobilenet", options, image, Activation(options.classifier_activation, {.name = "predictions"})(x));
}

}  // namespace anyshape::applications
