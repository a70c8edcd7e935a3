// What a layer is beside its code: name, dtype, weights, children. Its identity is what a trace knows it by.
#pragma once
#include "base/class_name.h"
#include "base/user_code_mutex.h"

#include <anyshape/layer.h>
#include <anyshape/registry.h>
#include <anyshape/spec.h>
#include <anyshape/stateful.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace anyshape {

using detail::LayerState;

struct detail::LayerState final : Identity {
  explicit LayerState(std::string type_name)
      : Identity(type_name == "Sequential" || type_name == "Functional" ? "model" : "layer"), type(std::move(type_name)) {}

  struct Weight {
    Variable variable;
    Regularizer regularizer;
  };
  std::string type;              // "Dense"; empty for a user's own layer, whose class tells
  std::string name;              // from the first handle on: the user's, the type's, or the one its first container gave it
  bool is_named = false;         // by the user: then no container changes it
  bool is_placed = false;        // in a container: the name stays
  bool has_other_names = false;  // in further containers, where its own was taken
  std::optional<Dtype> dtype;
  AnyLayer::Copy copy = nullptr;
  std::shared_ptr<const detail::Made> made;  // of a layer of ours: its options
  std::string child_field;                   // of a layer around another one: what its config calls that
  std::atomic<bool> is_built{false};         // set when the weights are whole: other threads may then use them
  bool is_building = false;
  bool is_trainable = true;
  std::vector<TensorSpec> built_on;  // the inputs of the call or build() that made the weights
  std::vector<Weight> weights;
  std::vector<Variable> counters;  // state beside the weights: how often random numbers of its own were drawn
  std::vector<AnyLayer> children;
  std::vector<std::string> child_names;              // per child, in this layer: what paths are made of
  std::unordered_map<std::string, int> next_number;  // per type of children, in snake case: names with lower numbers are children's
  // The first thread that called it, and whether another has since: what others use is not taken back when a first call fails.
  std::atomic<uintptr_t> first_caller{0};
  std::atomic<bool> is_shared{false};
  UserCodeMutex building;  // held while its weights are made or taken back; build() may call the layer

  uint64_t version() const override;  // with the children's
  Facts facts() const override;       // structure and trainability, by the layers' paths
};

namespace nn {

// ArgumentError that says how to build it; `what` is who asks: "weights".
void require_built(const AnyLayer& layer, const char* what);

using anyshape::snake_case;
std::string type_of(const Layer& layer);  // "Dense", or the name of the user's class

// Takes a layer in, under its own name where that is free, else under the type's with a number. The first container's name for it is its own
// from then on; what further ones call it is theirs. ArgumentError where the user gave it a name that is taken, and for a layer that would be
// inside itself.
void add_child(LayerState& parent, const std::string& parent_type, const AnyLayer& child);

// What the layer is called in the layer whose call is in progress on this thread; its own name elsewhere.
const std::string& name_here(const AnyLayer& layer);

// While it lives, a call of this layer is in progress on this thread.
class ScopedCaller {
 public:
  explicit ScopedCaller(const LayerState& caller);
  ~ScopedCaller();
  ScopedCaller(const ScopedCaller&) = delete;
  ScopedCaller& operator=(const ScopedCaller&) = delete;

 private:
  const LayerState* outer_;
};
const std::string& name_in(const LayerState& parent, const AnyLayer& child);  // its own where it is no child

// Names are parts of paths, which are the keys of a weights file. ArgumentError for one that would make two paths equal, or none.
void require_layer_name(const std::string& type, const std::string& name);
void require_weight_name(const LayerState& layer, const std::string& type, const std::string& name);

}  // namespace nn
}  // namespace anyshape
