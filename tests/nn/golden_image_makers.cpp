// How golden cases make layers of images and sequences with the configurations they have.
#include "nn/golden_layer.h"

namespace anyshape::test {
namespace {

PerAxis per_axis_or(const Json& config, const char* name, int64_t otherwise) {
  const Json* const found = config.find(name);
  if (found == nullptr || found->is_null()) return otherwise;
  return found->is_number() ? PerAxis(found->integer()) : PerAxis(found->integers());
}

std::optional<PerAxis> strides_of(const Json& config) {
  const Json* const found = config.find("strides");
  return found == nullptr || found->is_null() ? std::nullopt : std::optional(per_axis_or(config, "strides", 1));
}

std::string padding_of(const Json& config) { return config.find("padding") == nullptr ? "valid" : config["padding"].string(); }

int64_t filters(const Json& config) { return config["filters"].integer(); }
int64_t whole_or(const Json& config, const char* name, int64_t otherwise) {
  return static_cast<int64_t>(number_or(config, name, static_cast<double>(otherwise)));
}

template <class Handle>
GoldenLayer convolution() {
  return {.make = [](const Json& config) -> AnyLayer {
    return Handle(filters(config), per_axis_or(config, "kernel_size", 1),
                  {.strides = per_axis_or(config, "strides", 1),
                   .padding = padding_of(config),
                   .dilation_rate = per_axis_or(config, "dilation_rate", 1),
                   .groups = whole_or(config, "groups", 1),
                   .activation = activation_or(config, "activation", {}),
                   .use_bias = flag_or(config, "use_bias", true)});
  }};
}

template <class Handle>
GoldenLayer pooling() {
  return {.make = [](const Json& config) -> AnyLayer {
    return Handle(per_axis_or(config, "pool_size", 2), {.strides = strides_of(config), .padding = padding_of(config)});
  }};
}

template <class Handle>
GoldenLayer global_pooling() {
  return {.make = [](const Json& config) -> AnyLayer { return Handle({.keepdims = flag_or(config, "keepdims", false)}); }};
}

AnyLayer make_depthwise(const Json& config) {
  return DepthwiseConv2D(per_axis_or(config, "kernel_size", 1), {.strides = per_axis_or(config, "strides", 1),
                                                                 .padding = padding_of(config),
                                                                 .depth_multiplier = whole_or(config, "depth_multiplier", 1)});
}

AnyLayer make_separable(const Json& config) {
  return SeparableConv2D(filters(config), per_axis_or(config, "kernel_size", 1),
                         {.strides = per_axis_or(config, "strides", 1),
                          .padding = padding_of(config),
                          .depth_multiplier = whole_or(config, "depth_multiplier", 1)});
}

AnyLayer make_transposed(const Json& config) {
  return Conv2DTranspose(filters(config), per_axis_or(config, "kernel_size", 1),
                         {.strides = per_axis_or(config, "strides", 1), .padding = padding_of(config)});
}

AnyLayer make_zero_padding(const Json& config) {
  std::vector<Padding::Ends> ends;
  for (const Json& axis : config["padding"].items()) ends.emplace_back(axis.integers()[0], axis.integers()[1]);
  return ZeroPadding2D(Padding(ends));
}

AnyLayer make_upsampling(const Json& config) {
  const Json* const named = config.find("interpolation");
  const bool is_bilinear = named != nullptr && named->string() == "bilinear";
  return UpSampling2D(per_axis_or(config, "size", 2), {.interpolation = is_bilinear ? Interpolation::Bilinear : Interpolation::Nearest});
}

[[maybe_unused]] const bool registered = register_golden_layers({
    {"Conv1D", convolution<Conv1D>()},
    {"Conv2D", convolution<Conv2D>()},
    {"Conv2DTranspose", {.make = make_transposed}},
    {"DepthwiseConv2D", {.make = make_depthwise}},
    {"SeparableConv2D", {.make = make_separable}},
    {"MaxPooling1D", pooling<MaxPooling1D>()},
    {"MaxPooling2D", pooling<MaxPooling2D>()},
    {"AveragePooling1D", pooling<AveragePooling1D>()},
    {"AveragePooling2D", pooling<AveragePooling2D>()},
    {"GlobalAveragePooling2D", global_pooling<GlobalAveragePooling2D>()},
    {"GlobalMaxPooling2D", global_pooling<GlobalMaxPooling2D>()},
    {"UpSampling2D", {.make = make_upsampling}},
    {"ZeroPadding2D", {.make = make_zero_padding}},
    {"GroupNormalization", {.make = [](const Json& config) -> AnyLayer {
       return GroupNormalization({.groups = whole_or(config, "groups", 32), .epsilon = number_or(config, "epsilon", 1e-3)});
     }}},
});

}  // namespace
}  // namespace anyshape::test
