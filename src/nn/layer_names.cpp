// Names of layers and weights, and the containers that give them.
#include "base/no_fork.h"
#include "base/thread_context.h"
#include "nn/layer_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace anyshape::nn {
namespace {

// "query" of a weight "query/kernel", which would be the kernel of a layer "query".
std::string_view first_part(std::string_view weight) { return weight.substr(0, weight.find('/')); }
bool has_folder(std::string_view weight) { return weight.find('/') != std::string_view::npos; }

bool contains(const LayerState& outer, const LayerState& sought, std::unordered_set<const LayerState*>& seen) {
  if (&outer == &sought) return true;
  if (!seen.insert(&outer).second) return false;
  return std::ranges::any_of(outer.children, [&](const AnyLayer& child) { return contains(child.layer()->state(), sought, seen); });
}

bool is_child_name(const LayerState& parent, const std::string& name) {
  return std::ranges::find(parent.child_names, name) != parent.child_names.end();
}

// What keeps a child from a name, in words; empty where it is free.
std::string taken_by(const LayerState& parent, const std::string& name) {
  if (is_child_name(parent, name)) return fmt::format("two layers are named \"{}\"", name);
  for (const LayerState::Weight& weight : parent.weights) {
    if (has_folder(weight.variable.name()) && first_part(weight.variable.name()) == name)
      return fmt::format("a layer \"{}\" stands beside the weight \"{}\"", name, weight.variable.name());
  }
  return {};
}

std::string name_for(LayerState& parent, const AnyLayer& child) {
  LayerState& own = child.layer()->state();
  for (size_t i = 0; i < parent.children.size(); ++i) {
    if (parent.children[i].layer() == child.layer()) return parent.child_names[i];  // a shared layer has one name
  }
  const std::string taken = taken_by(parent, own.name);
  if (taken.empty()) return own.name;
  if (own.is_named) throw ArgumentError(fmt::format("model: {}; expected names that differ. Layers without one get their own.", taken));
  // Numbers that children have are not tried again: of a thousand layers of one type the last has a thousand names in front of it.
  const std::string base = snake_case(type_of(*child.layer()));
  int& next = parent.next_number[base];
  for (int number = next;; ++number) {
    std::string name = number == 0 ? base : fmt::format("{}_{}", base, number);
    if (taken_by(parent, name).empty()) return name;
    if (number == next && is_child_name(parent, name)) ++next;
  }
}

}  // namespace

void add_child(LayerState& parent, const std::string& parent_type, const AnyLayer& child) {
  if (!child.defined()) throw ArgumentError(fmt::format("layer {}: a layer inside is an empty handle; expected a layer.", parent_type));
  LayerState& own = child.layer()->state();
  std::unordered_set<const LayerState*> seen;
  if (contains(own, parent, seen)) {
    throw ArgumentError(&own == &parent
                            ? fmt::format("layer {}: \"{}\" is added to itself; expected another layer.", parent_type, own.name)
                            : fmt::format("layer {}: layer \"{}\" holds \"{}\", to which it is added; expected layers without a circle.",
                                          parent_type, own.name, parent.name));
  }
  std::string name = name_for(parent, child);
  const NoFork whole;  // a child may build the layer that another thread was building
  if (!own.is_placed) own.name = name;
  own.is_placed = true;
  own.has_other_names = own.has_other_names || own.name != name;
  parent.child_names.reserve(parent.child_names.size() + 1);
  parent.children.push_back(child);
  parent.child_names.push_back(std::move(name));
  parent.changed();
}

const std::string& name_in(const LayerState& parent, const AnyLayer& child) {
  for (size_t i = 0; i < parent.children.size(); ++i) {
    if (parent.children[i].layer() == child.layer()) return parent.child_names[i];
  }
  return child.name();
}

const std::string& name_here(const AnyLayer& layer) {
  const bool may_differ = this_thread.layer != nullptr && layer.layer()->state().has_other_names;
  return may_differ ? name_in(*this_thread.layer, layer) : layer.name();
}

ScopedCaller::ScopedCaller(const LayerState& caller) : outer_(std::exchange(this_thread.layer, &caller)) {}
ScopedCaller::~ScopedCaller() { this_thread.layer = outer_; }

void require_layer_name(const std::string& type, const std::string& name) {
  if (name.find('/') == std::string::npos) return;
  throw ArgumentError(
      fmt::format("{}: the name \"{}\" has a slash, which stands between the layers of a path; expected a name without one.", type, name));
}

void require_weight_name(const LayerState& layer, const std::string& type, const std::string& name) {
  const auto refuse = [&](const std::string& what, const char* rule) {
    throw ArgumentError(fmt::format("layer {}: weight \"{}\" {}; expected {}.", type, name, what, rule));
  };
  if (name.empty() || name.starts_with('/') || name.ends_with('/') || name.find("//") != std::string::npos)
    refuse("has no name, or a part without one", "a name");
  if (name == "__metadata__") refuse("has the name that a weights file keeps for itself", "another name");
  const auto has_name = [&](const LayerState::Weight& weight) { return weight.variable.name() == name; };
  if (std::ranges::any_of(layer.weights, has_name)) refuse("is made twice", "weights of a layer to have names that differ");
  if (has_folder(name) && std::ranges::find(layer.child_names, first_part(name)) != layer.child_names.end())
    refuse(fmt::format("may be a weight of the layer \"{}\" inside", first_part(name)), "a name that begins otherwise");
}

}  // namespace anyshape::nn
