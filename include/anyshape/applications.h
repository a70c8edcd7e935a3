// Networks for images that are known by name, with height and width of any size: as::applications::resnet50(). Their weights are random; layers and
// weights have Keras's names and shapes.
#pragma once
#include <anyshape/activation.h>
#include <anyshape/dim.h>
#include <anyshape/model.h>
#include <anyshape/shape.h>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape::applications {

/// What every one of these networks takes. The channels must be a number; height and width may be open.
struct ApplicationOptions {
  Shape input_shape = {dynamic, dynamic, 3};
  bool include_top = true;   ///< the classifier; else the last image [height, width, channels], or what `pooling` makes of it
  std::string pooling = {};  ///< without the classifier: "avg" or "max" over the image; ArgumentError for another name
  int64_t classes = 1000;
  ActivationFunction classifier_activation = "softmax";
  std::string name = {};  ///< by default that of the network: "resnet50"
};

/// Residual networks: 18 layers in pairs of 3 x 3 convolutions, and 50 in threes that work on fewer channels between (the first version, whose biases
/// stand before the normalisation, as in Keras).
///@{
Model resnet18(ApplicationOptions options = {});
Model resnet50(ApplicationOptions options = {});
///@}
/// A small network of depthwise convolutions, MobileNet of the first version.
Model mobilenet(ApplicationOptions options = {});

}  // namespace anyshape::applications
#pragma GCC visibility pop
