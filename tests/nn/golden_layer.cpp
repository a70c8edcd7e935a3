// The registry of golden layers, and readers of their records.
#include "nn/golden_layer.h"

#include "nn/notes.h"

namespace anyshape::test {
namespace {

GoldenLayers& registry() {
  static GoldenLayers layers;
  return layers;
}

}  // namespace

bool register_golden_layers(const GoldenLayers& layers) {
  registry().insert(layers.begin(), layers.end());
  return true;
}
const GoldenLayers& golden_layers() { return registry(); }

std::vector<Tensor> GoldenCall::inputs_of(const char* argument) const {
  const Json* const found = arguments.find(argument);
  if (found == nullptr) return {};
  const Json& names = (*found)["in"];
  if (names.is_string()) return {input(names.string())};
  std::vector<Tensor> tensors;
  for (const std::string& name : names.strings()) tensors.push_back(input(name));
  return tensors;
}

bool GoldenCall::flag(const char* argument) const { return flag_or(arguments, argument, false); }

Tensor GoldenCall::masked_x() const {
  const std::vector<Tensor> mask = inputs_of("mask");
  return mask.empty() ? input("x") : nn::with_mask(input("x"), mask[0]);
}

double number_or(const Json& config, const char* name, double otherwise) {
  const Json* const found = config.find(name);
  return found == nullptr || found->is_null() ? otherwise : found->number();
}

bool flag_or(const Json& config, const char* name, bool otherwise) {
  const Json* const found = config.find(name);
  return found == nullptr ? otherwise : found->boolean();
}

ActivationFunction activation_or(const Json& config, const char* name, ActivationFunction otherwise) {
  const Json* const found = config.find(name);
  return found == nullptr || found->is_null() ? std::move(otherwise) : ActivationFunction(found->string());
}

}  // namespace anyshape::test
