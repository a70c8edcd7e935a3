// The walk over the layers, each with the module of the file that it stands for.
#include "model/weights/places.h"

#include "base/near_names.h"
#include "model/weights/flattened_image.h"
#include "nn/layer_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

namespace anyshape::model {
namespace {

constexpr char star = '*';

// What stands around one layer and is no module in PyTorch.
bool is_one_module(const LayerState& layer, WeightLayout layout) {
  return layout == WeightLayout::PyTorch && (layer.type == "Bidirectional" || layer.type == "TimeDistributed");
}

std::string with(const std::string& pattern, const std::string& name) {
  std::string text = pattern;
  const size_t at = text.find(star);
  return at == std::string::npos ? text : text.replace(at, 1, name);
}

class Walk {
 public:
  Walk(const LoadOptions& options, const std::map<std::string, Place>& found, const std::function<bool(const std::string&)>& is_there)
      : options_(options), found_(found), is_there_(is_there) {
    for (const auto& [ours, theirs] : options.names.entries()) {
      require_one_star(ours, theirs);
      if (!entries_.emplace(ours, theirs).second) {
        throw ArgumentError(fmt::format("load_weights: .names has \"{}\" twice; expected each of our names once.", ours));
      }
    }
  }

  void visit(const AnyLayer& layer, const std::string& path, const Place& inherited) {
    const LayerState& state = layer.layer()->state();
    paths_.insert(path);
    const Place place = place_of(path).value_or(inherited);
    add_weights(state, path, place);
    for (size_t i = 0; i < state.children.size(); ++i) {
      const std::string& child = state.child_names[i];
      Place inner = place;
      if (is_one_module(state, options_.layout)) {
        inner.is_reverse = state.type == "Bidirectional" && i == 1;
      } else {
        inner = {.pattern = with(place.pattern, child + separator() + star)};
      }
      const std::string inner_path = path_in(path, child);
      if (needs_image(state.children[i], inner_path)) image_ = flattened_image(layer, i);
      visit(state.children[i], inner_path, inner);
      image_.reset();
    }
  }

  void require_known() const {
    const std::vector<std::string> known(paths_.begin(), paths_.end());
    for (const auto& entry : entries_) {
      if (!paths_.contains(entry.first))
        throw ArgumentError("load_weights: .names: " + unknown_name("layer or weight of the model", entry.first, known));
    }
    for (const auto& each : options_.flattened) {
      if (!flattened_.contains(each.first))
        throw ArgumentError("load_weights: .flattened: " + unknown_name("Dense layer of the model", each.first, dense_));
    }
  }

  std::vector<Match> matches;

 private:
  char separator() const { return options_.layout == WeightLayout::PyTorch ? '.' : '/'; }

  static void require_one_star(const std::string& ours, const std::string& theirs) {
    if (theirs.find(star) == theirs.rfind(star)) return;
    throw ArgumentError(
        fmt::format("load_weights: .names gives \"{}\" for \"{}\"; expected one star, where the tensors' own names go.", theirs, ours));
  }

  std::optional<std::string> given(const std::string& path) const {
    const auto entry = entries_.find(path);
    if (entry != entries_.end()) return entry->second;
    return std::nullopt;
  }

  // A layer's or a part's.
  std::optional<Place> place_of(const std::string& path) const {
    if (const auto known = found_.find(path); known != found_.end()) return known->second;
    std::optional<std::string> theirs = given(path);
    if (!theirs && options_.names.callable() && !path.empty()) {
      std::string named = options_.names.callable()(path);
      require_one_star(path, named);
      if (!named.empty()) theirs = std::move(named);
    }
    if (!theirs) return std::nullopt;
    if (theirs->find(star) != std::string::npos) return Place{.pattern = *theirs, .has_own_star = true};
    return Place{.pattern = theirs->empty() ? std::string(1, star) : *theirs + separator() + star};
  }

  std::vector<Rule> rules_of(const LayerState& state, const std::string& path, const Place& place) const {
    if (options_.layout == WeightLayout::Keras) return own_rules(state);
    const RuleFacts facts{.is_named = [&](const std::string& part) { return given(path_in(path, part)).has_value(); },
                          .is_there = [&](const std::string& tensor) { return is_there_(place.name_of(tensor, false)); }};
    return torch_rules(state, path, facts);
  }

  void add_weights(const LayerState& state, const std::string& path, const Place& place) {
    std::vector<Rule> rules = rules_of(state, path, place);
    for (size_t i = 0; i < state.weights.size(); ++i) {
      const Variable& variable = state.weights[i].variable;
      const std::string own_path = path_in(path, variable.name());
      paths_.insert(own_path);
      if (!rules[i].part.empty()) paths_.insert(path_in(path, rules[i].part));
      if (state.type == "Dense" && variable.name() == "kernel") turn_rows(rules[i], path, variable);
      if (!known_.insert(variable.id()).second) continue;
      matches.push_back(match(own_path, path, variable, std::move(rules[i]), place));
      if (const std::optional<Shape> image = std::exchange(image_, std::nullopt)) matches.back().problem = rows_in_question(*image, path);
    }
  }

  Match match(const std::string& own_path, const std::string& layer, const Variable& variable, Rule rule, const Place& place) const {
    Match made{.path = own_path, .variable = variable, .rule = std::move(rule), .tensors = {}};
    const std::optional<std::string> exact = given(own_path);
    if (exact && exact->find(star) == std::string::npos) {
      if (made.rule.sources.size() > 1) {
        throw ArgumentError(
            fmt::format("load_weights: .names gives the tensor \"{}\" for \"{}\", which is made of {} and {}; expected a module with a "
                        "star where these names go.",
                        *exact, own_path, made.rule.sources[0].tensor, made.rule.sources[1].tensor));
      }
      made.tensors.push_back(*exact);
      return made;
    }
    Place here = exact ? Place{.pattern = *exact, .has_own_star = true} : place;
    if (!exact && !made.rule.part.empty()) {
      if (const auto part = given(path_in(layer, made.rule.part))) here = *place_of(path_in(layer, made.rule.part));
    }
    for (const Source& source : made.rule.sources) made.tensors.push_back(here.name_of(source.tensor, made.rule.has_level));
    return made;
  }

  bool needs_image(const AnyLayer& layer, const std::string& path) const {
    return options_.layout == WeightLayout::PyTorch && layer.layer()->state().type == "Dense" && !options_.flattened.contains(path);
  }

  static std::string rows_in_question(const Shape& image, const std::string& path) {
    std::string sizes = to_string(image[-1]);
    for (int axis = 1; axis + 1 < image.rank(); ++axis) sizes += ", " + to_string(image[axis]);
    return fmt::format(
        "stands behind an image {} that is flattened, and PyTorch flattens one with the channels first: say .flattened = "
        "{{{{\"{}\", {{{}}}}}}}, or {{}} for rows as they are",
        to_string(image), path, sizes);
  }

  // The rows of a Dense layer behind an image that was flattened.
  void turn_rows(Rule& rule, const std::string& path, const Variable& kernel) {
    dense_.push_back(path);
    const auto image = options_.flattened.find(path);
    if (image == options_.flattened.end()) return;
    flattened_.insert(path);
    if (options_.layout != WeightLayout::PyTorch) {
      throw ArgumentError(
          "load_weights: .flattened is given with WeightLayout::Keras, whose images have the channels last as ours have; "
          "expected it with WeightLayout::PyTorch.");
    }
    if (image->second.empty()) return;
    int64_t rows = 1;
    bool fits = image->second.size() > 1;
    for (const int64_t size : image->second) fits = fits && size > 0 && !__builtin_mul_overflow(rows, size, &rows);
    if (!fits || rows != sizes_of(kernel)[0]) {
      throw ArgumentError(fmt::format(
          "load_weights: .flattened gives {} for \"{}\", which takes {} numbers; expected the sizes [channels, height, width] of "
          "the image that is flattened before it.",
          to_text(image->second), path, sizes_of(kernel)[0]));
    }
    take_flattened(rule, image->second);
  }

  const LoadOptions& options_;
  const std::map<std::string, Place>& found_;
  const std::function<bool(const std::string&)>& is_there_;
  std::map<std::string, std::string> entries_;
  std::set<std::string> paths_, flattened_;  // of layers, parts and weights; of `flattened` what was a Dense layer's
  std::vector<std::string> dense_;
  std::unordered_set<uint64_t> known_;
  std::optional<Shape> image_;  // that the Dense layer which is visited next reads flattened
};

void collect_leaves(const AnyLayer& layer, const std::string& path, std::vector<Leaf>& leaves) {
  const LayerState& state = layer.layer()->state();
  if (!state.weights.empty()) leaves.push_back({path, layer});
  for (size_t i = 0; i < state.children.size(); ++i) collect_leaves(state.children[i], path_in(path, state.child_names[i]), leaves);
}

}  // namespace

std::string path_in(const std::string& outer, const std::string& name) { return outer.empty() ? name : outer + "/" + name; }

std::string Place::name_of(const std::string& tensor, bool has_level) const {
  std::string name = with(pattern, has_level && !has_own_star ? tensor + "_l0" : tensor);
  return has_level && is_reverse ? name + "_reverse" : name;
}

std::vector<Leaf> leaves_of(const AnyLayer& network) {
  std::vector<Leaf> leaves;
  collect_leaves(network, "", leaves);
  return leaves;
}

std::vector<Match> find_tensors(const AnyLayer& network, const LoadOptions& options, const std::map<std::string, Place>& found,
                                const std::function<bool(const std::string&)>& is_there) {
  Walk walk(options, found, is_there);
  walk.visit(network, "", {});
  walk.require_known();
  return std::move(walk.matches);
}

}  // namespace anyshape::model
