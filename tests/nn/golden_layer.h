// Golden cases of kind layer. A file per family registers its layers:
//   const bool registered = register_golden_layers({{"Dense", {.make = [](const Json& config) -> AnyLayer { return Dense(...); }}}});
// and golden_layer_test.cpp runs every case of them: outputs, masks and gradients, eagerly and traced.
#pragma once
#include "support/golden.h"
#include "support/json.h"

#include <anyshape/anyshape.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace anyshape::test {

using support::Json;

// The call of a case: its tensors by name, and the arguments as the record has them.
struct GoldenCall {
  const std::map<std::string, Tensor>& inputs;
  const Json& arguments;  // null where there are none

  Tensor input(const std::string& name) const { return inputs.at(name); }
  std::vector<Tensor> inputs_of(const char* argument) const;  // {"in": name} or {"in": [names]}; empty where it is not given
  bool flag(const char* argument) const;                      // false where it is not given
  // inputs["x"] with the mask of the argument "mask", where there is one.
  Tensor masked_x() const;
};

struct GoldenLayer {
  std::function<AnyLayer(const Json& config)> make;
  // All outputs in order. None: the layer called on masked_x().
  std::function<std::vector<Tensor>(const AnyLayer& layer, const GoldenCall& call)> call = {};
  // Where the library decides otherwise than Keras (SEMANTICS.md): the case, and the tensor that is not compared, as "out/0" or "grad/x".
  std::vector<std::pair<std::string, std::string>> decided_otherwise = {};
};
using GoldenLayers = std::map<std::string, GoldenLayer>;

bool register_golden_layers(const GoldenLayers& layers);  // true, to be called where a static object is made
const GoldenLayers& golden_layers();

// What a config says, or the default.
double number_or(const Json& config, const char* name, double otherwise);
bool flag_or(const Json& config, const char* name, bool otherwise);
ActivationFunction activation_or(const Json& config, const char* name, ActivationFunction otherwise);

}  // namespace anyshape::test
