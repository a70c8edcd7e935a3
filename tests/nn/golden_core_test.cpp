// The golden cases of Dense, Embedding, Dropout, the normalizations, shapes, masks and poolings.
#include "nn/golden_layer.h"

namespace anyshape::test {
namespace {

BatchNormalizationOptions batch_normalization_options(const Json& config) {
  return {.momentum = number_or(config, "momentum", 0.99),
          .epsilon = number_or(config, "epsilon", 1e-3),
          .center = flag_or(config, "center", true),
          .scale = flag_or(config, "scale", true)};
}

LayerNormalizationOptions layer_normalization_options(const Json& config) {
  LayerNormalizationOptions options{
      .epsilon = number_or(config, "epsilon", 1e-3), .center = flag_or(config, "center", true), .scale = flag_or(config, "scale", true)};
  if (const Json* const axes = config.find("axis")) {
    const std::vector<int64_t> given = axes->integers();
    options.axes.assign(given.begin(), given.end());
  }
  return options;
}

[[maybe_unused]] const bool registered = register_golden_layers({
    {"Dense", {.make = [](const Json& config) -> AnyLayer {
       return Dense(config["units"].integer(),
                    {.activation = activation_or(config, "activation", {}), .use_bias = flag_or(config, "use_bias", true)});
     }}},
    {"Embedding", {.make = [](const Json& config) -> AnyLayer {
       return Embedding(config["input_dim"].integer(), config["output_dim"].integer(), {.mask_zero = flag_or(config, "mask_zero", false)});
     }}},
    {"Dropout", {.make = [](const Json& config) -> AnyLayer { return Dropout(config["rate"].number()); }}},
    {"Flatten", {.make = [](const Json&) -> AnyLayer { return Flatten(); }}},
    {"Masking", {.make = [](const Json& config) -> AnyLayer { return Masking({.mask_value = config["mask_value"].number()}); }}},
    {"BatchNormalization",
     {.make = [](const Json& config) -> AnyLayer { return BatchNormalization(batch_normalization_options(config)); }}},
    {"LayerNormalization",
     {.make = [](const Json& config) -> AnyLayer { return LayerNormalization(layer_normalization_options(config)); }}},
    {"GlobalAveragePooling1D", {.make = [](const Json&) -> AnyLayer { return GlobalAveragePooling1D(); }}},
    {"GlobalMaxPooling1D", {.make = [](const Json&) -> AnyLayer { return GlobalMaxPooling1D(); }}},
});

}  // namespace
}  // namespace anyshape::test
