// What a layer is beside its code: name, dtype, weights, children. Its identity is what a trace knows it by.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/spec.h>
#include <anyshape/stateful.h>

#include <optional>
#include <string>
#include <vector>

namespace anyshape {

struct LayerState final : Identity {
  explicit LayerState(std::string type_name)
      : Identity(type_name == "Sequential" || type_name == "Functional" ? "model" : "layer"), type(std::move(type_name)) {}

  struct Weight {
    Variable variable;
    Regularizer regularizer;
  };
  std::string type;       // "Dense"; empty for a user's own layer, whose class tells
  std::string name;       // empty until the user or the first container gives one
  bool is_named = false;  // by the user: then no container changes it
  std::optional<Dtype> dtype;
  AnyLayer::Copy copy = nullptr;
  bool is_built = false;
  bool is_building = false;
  bool is_trainable = true;
  std::vector<TensorSpec> built_on;  // the inputs of the call or build() that made the weights
  std::vector<Weight> weights;
  std::vector<AnyLayer> children;

  uint64_t version() const override;  // with the children's
};

namespace nn {

// Builds a layer, but none inside it: those are built when they are called.
void make_weights(Layer& layer, std::vector<TensorSpec> inputs);

// ArgumentError that says how to build it; `what` is who asks: "weights".
void require_built(const AnyLayer& layer, const char* what);

std::string type_of(const Layer& layer);          // "Dense", or the name of the user's class
std::string snake_case(const std::string& type);  // "GlobalMaxPooling1D" -> "global_max_pooling1d"

// A name that none of the layers has: the type's, with a number from the second on. ArgumentError where the user gave it one that is taken.
void name_child(const AnyLayer& child, const std::vector<AnyLayer>& siblings);

}  // namespace nn
}  // namespace anyshape
