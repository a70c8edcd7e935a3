// A map per layer, with those of the layers inside. One that stands there twice is told the first time, and by its number afterwards.
#include "nn/layer_tree.h"

#include "base/cut_text.h"
#include "nn/describe_call.h"
#include "nn/first_call.h"
#include "nn/layer_state.h"

#include <anyshape/error.h>
#include <anyshape/option_fields.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace anyshape::nn {
namespace {

constexpr const char* ragged_size = "ragged";

struct BuiltOn {
  Dtype dtype = Dtype::f32;
  std::vector<Config> sizes = {};  // numbers; none where a size is open; a text for one that was known by its name or formula alone
};
struct LayerFacts {
  std::string type = {};
  std::string name = {};
  bool is_named = false;
  bool is_trainable = true;
  bool is_built = false;
  Dtype dtype = Dtype::f32;
  std::vector<BuiltOn> built_on = {};
  std::vector<std::string> child_names = {};
  std::vector<Config> children = {};  // facts, or the number of a layer that is told before, counted from 0
};

BuiltOn told(const TensorSpec& spec) {
  BuiltOn built{.dtype = spec.dtype};
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    const Dim& size = spec.shape[axis];
    if (size.is_ragged()) {
      built.sizes.emplace_back(ragged_size);
    } else if (size.is_constant()) {
      built.sizes.emplace_back(size.value());
    } else if (is_open_size(size, axis)) {
      built.sizes.emplace_back();
    } else {
      built.sizes.emplace_back(to_string(size));
    }
  }
  return built;
}

// Of formulas stands here a size of its own: no weight was made of it.
TensorSpec read_back(const BuiltOn& built, const std::string& place) {
  if (built.sizes.size() > static_cast<size_t>(max_rank)) {
    throw ArgumentError(fmt::format("{}: an input of rank {}; expected at most {}.", place, built.sizes.size(), max_rank));
  }
  Shape shape;
  std::map<std::string, Dim> named;
  for (const Config& size : built.sizes) {
    if (size.is_null()) {
      shape.push_back(dynamic);
    } else if (size.kind() == Config::Kind::Integer) {
      shape.push_back(detail::integer_from(size, place + ": a size", 0, INT64_MAX));
    } else if (size.kind() == Config::Kind::Text && size.as_text() == ragged_size) {
      shape.push_back(ragged_dim("time"));
    } else if (size.kind() == Config::Kind::Text) {
      shape.push_back(named.try_emplace(size.as_text(), dim("size")).first->second);
    } else {
      detail::refuse_value(place + ": a size", size, "a number, a text or none");
    }
  }
  return {built.dtype, with_open_sizes(shape), {}};
}

using Numbers = std::unordered_map<const Layer*, int64_t>;

Config facts_of(const AnyLayer& layer, Numbers& numbers) {
  numbers.emplace(layer.layer().get(), static_cast<int64_t>(numbers.size()));
  const LayerState& state = layer.layer()->state();
  LayerFacts facts{.type = layer.type(),
                   .name = state.name,
                   .is_named = state.is_named,
                   .is_trainable = state.is_trainable,
                   .is_built = state.is_built,
                   .dtype = layer.dtype(),
                   .built_on = {},
                   .child_names = state.child_names,
                   .children = {}};
  for (const TensorSpec& spec : state.built_on) facts.built_on.push_back(told(spec));
  for (const AnyLayer& child : state.children) {
    const auto known = numbers.find(child.layer().get());
    facts.children.push_back(known == numbers.end() ? facts_of(child, numbers) : Config(known->second));
  }
  return detail::to_config(facts);
}

class Restoring {
 public:
  explicit Restoring(Dtype default_dtype_here) : default_dtype_here_(default_dtype_here) {}

  void restore(const AnyLayer& layer, const Config& config, const std::string& path) {
    const std::string place = path.empty() ? "layers" : fmt::format("layers: {}", in_quotes(path));
    known_.push_back(layer.layer().get());
    const auto facts = detail::from_config<LayerFacts>(config, place);
    LayerState& state = layer.layer()->state();
    if (!state.type.empty() && facts.type != state.type) {  // a class of the user's may have been renamed since
      throw ArgumentError(fmt::format("{} is of the class {}, and the architecture makes {}; expected one class.", place,
                                      in_quotes(facts.type), layer.type()));
    }
    if (state.children.size() == facts.children.size()) rename(state, facts, place);
    require_layer_name(facts.type, facts.name);
    if (facts.name.empty()) throw ArgumentError(fmt::format("{} has no name; expected one.", place));
    state.name = facts.name;
    state.is_named = facts.is_named;
    if (!state.dtype && facts.dtype != default_dtype_here_) state.dtype = facts.dtype;
    std::vector<TensorSpec> built_on;
    for (const BuiltOn& each : facts.built_on) built_on.push_back(read_back(each, place));
    if (facts.is_built && !state.is_built) {
      if (built_on.empty()) throw ArgumentError(fmt::format("{} is built on no input; expected at least one.", place));
      make_weights(*layer.layer(), built_on);
    }
    if (!facts.is_built && state.is_built) throw ArgumentError(fmt::format("{} is not built, but is so as it is made.", place));
    if (!built_on.empty()) state.built_on = std::move(built_on);
    if (state.children.size() != facts.children.size()) {
      throw ArgumentError(fmt::format("{} has {} layers inside, and {} as it is made; expected as many.", place, facts.children.size(),
                                      state.children.size()));
    }
    rename(state, facts, place);
    for (size_t i = 0; i < facts.children.size(); ++i) {
      const std::string child_path = path.empty() ? state.child_names[i] : path + "/" + state.child_names[i];
      restore_child(state.children[i], facts.children[i], place, child_path);
    }
    if (state.is_trainable != facts.is_trainable) {
      state.is_trainable = facts.is_trainable;
      state.changed();
    }
  }

 private:
  void restore_child(const AnyLayer& child, const Config& facts, const std::string& place, const std::string& path) {
    const auto found = std::ranges::find(known_, child.layer().get());
    const auto number = static_cast<int64_t>(found - known_.begin());
    if (found == known_.end() && facts.kind() != Config::Kind::Integer) return restore(child, facts, path);
    if (found != known_.end() && facts.kind() == Config::Kind::Integer && facts.as_integer() == number) return;
    throw ArgumentError(
        fmt::format("{}: the layer {} is not shared as it is made; expected the same layers to be shared.", place, in_quotes(path)));
  }

  // The names that paths of weights are made of.
  static void rename(LayerState& state, const LayerFacts& facts, const std::string& place) {
    if (facts.child_names.size() != state.children.size()) {
      throw ArgumentError(
          fmt::format("{} names {} layers of {}; expected a name for each.", place, facts.child_names.size(), state.children.size()));
    }
    std::map<std::string, const Layer*> names;
    for (size_t i = 0; i < state.children.size(); ++i) {
      const std::string& name = facts.child_names[i];
      const Layer* const own = state.children[i].layer().get();
      require_layer_name(facts.type, name);
      if (name.empty() || names.try_emplace(name, own).first->second != own) {
        throw ArgumentError(fmt::format("{} has two layers {} or one without a name; expected names that differ.", place, in_quotes(name)));
      }
      LayerState& child = state.children[i].layer()->state();
      child.has_other_names = child.has_other_names || child.name != name;
    }
    state.child_names = facts.child_names;
  }

  Dtype default_dtype_here_;
  std::vector<const Layer*> known_;  // in the order of facts_of()
};

}  // namespace

Config layer_tree(const AnyLayer& network) {
  Numbers numbers;
  return facts_of(network, numbers);
}

void restore_layer_tree(const AnyLayer& network, const Config& tree, Dtype default_dtype_here) {
  Restoring(default_dtype_here).restore(network, tree, "");
}

}  // namespace anyshape::nn
