// Versions and names of layers.
#include "nn/layer_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace anyshape {

uint64_t LayerState::version() const {
  uint64_t total = Identity::version();
  for (const AnyLayer& child : children) total += child.identity().version();
  return total;
}

namespace nn {

void require_built(const AnyLayer& layer, const char* what) {
  if (layer.is_built()) return;
  throw ArgumentError(fmt::format(
      "{}: layer \"{}\" is not built, so it has no weights yet; expected a built one. Call build(input shape), call it on data, or fit it.",
      what, layer.name()));
}

std::string type_of(const Layer& layer) {
  if (!layer.state().type.empty()) return layer.state().type;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(typeid(layer).name(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 ? text.get() : typeid(layer).name();
  const size_t scope = full.rfind("::");
  return scope == std::string::npos ? full : full.substr(scope + 2);
}

std::string snake_case(const std::string& type) {
  std::string text;
  for (size_t i = 0; i < type.size(); ++i) {
    const auto upper = [&](size_t at) { return at < type.size() && std::isupper(static_cast<unsigned char>(type[at])) != 0; };
    const bool ends_lower = i > 0 && std::islower(static_cast<unsigned char>(type[i - 1])) != 0;
    const bool ends_acronym = i > 0 && upper(i - 1) && i + 1 < type.size() && std::islower(static_cast<unsigned char>(type[i + 1])) != 0;
    if (upper(i) && (ends_lower || ends_acronym)) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return text;
}

void name_child(const AnyLayer& child, const std::vector<AnyLayer>& siblings) {
  LayerState& state = child.layer()->state();
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(siblings, [&](const AnyLayer& other) { return other.name() == name; });
  };
  if (!state.name.empty() && !is_taken(state.name)) return;
  if (state.is_named) {
    throw ArgumentError(
        fmt::format("model: two layers are named \"{}\"; expected names that differ. Layers without one get their own.", state.name));
  }
  const std::string base = snake_case(type_of(*child.layer()));
  for (int number = 0;; ++number) {
    const std::string name = number == 0 ? base : base + "_" + std::to_string(number);
    if (is_taken(name)) continue;
    state.name = name;
    return;
  }
}

}  // namespace nn
}  // namespace anyshape
