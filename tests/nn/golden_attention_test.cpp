// Golden cases of attention: masks of query and value are carried by the tensors.
#include "nn/golden_layer.h"
#include "nn/notes.h"

namespace anyshape::test {
namespace {

AnyLayer make(const Json& config) {
  return MultiHeadAttention(config["num_heads"].integer(), config["key_dim"].integer(),
                            {.value_dim = static_cast<int64_t>(number_or(config, "value_dim", 0)),
                             .use_bias = flag_or(config, "use_bias", true),
                             .output_size = static_cast<int64_t>(number_or(config, "output_shape", 0))});
}

std::vector<Tensor> call(const AnyLayer& layer, const GoldenCall& call) {
  const auto masked = [&](const char* argument, const char* mask) {
    const Tensor x = call.inputs_of(argument)[0];
    const std::vector<Tensor> given = call.inputs_of(mask);
    return given.empty() ? x : nn::with_mask(x, given[0]);
  };
  std::vector<Tensor> inputs = {masked("query", "query_mask"), masked("value", "value_mask")};
  const std::vector<Tensor> key = call.inputs_of("key"), mask = call.inputs_of("attention_mask");
  if (!key.empty()) inputs.push_back(key[0]);
  if (!mask.empty()) {
    if (key.empty()) inputs.push_back(inputs[1]);
    inputs.push_back(mask[0]);
  }
  // Keras hands on the mask that a query carries, not one that is given beside it.
  return {nn::with_mask(layer(inputs, {.use_causal_mask = call.flag("use_causal_mask")}), {})};
}

[[maybe_unused]] const bool registered = register_golden_layers({{"MultiHeadAttention", {.make = make, .call = call}}});

}  // namespace
}  // namespace anyshape::test
