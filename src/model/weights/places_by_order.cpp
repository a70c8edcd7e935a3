// Modules by kind and sizes. Those that are alike stand in the order of the numbers in their names, as a file keeps no order of its own; where the
// names differ in words, nothing tells which is which.
#include "base/cut_text.h"
#include "model/weights/places.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace anyshape::model {
namespace {

struct Module {
  std::string head;  // "encoder.layers.0.linear1"
  int64_t level = 0;
  bool is_recurrent = false, is_reverse = false;
  std::map<std::string, Sizes> tensors = {};  // by their own names

  Place place() const {
    const std::string begin = head.empty() ? "*" : head + ".*";
    if (!is_recurrent) return {.pattern = begin, .has_own_star = true};
    return {.pattern = fmt::format("{}_l{}", begin, level), .has_own_star = true, .is_reverse = is_reverse};
  }
  std::string shown() const { return is_recurrent ? fmt::format("{} (_l{}{})", head, level, is_reverse ? "_reverse" : "") : head; }
};

std::optional<int64_t> number_in(std::string_view digits) {
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

// "weight_ih_l1_reverse": its own name, level and direction; nothing for a tensor of another module.
struct RecurrentTensor {
  std::string own;
  int64_t level;
  bool is_reverse;
};
std::optional<RecurrentTensor> recurrent_tensor(std::string_view name) {
  constexpr std::string_view reverse = "_reverse";
  const bool is_reverse = name.ends_with(reverse);
  if (is_reverse) name.remove_suffix(reverse.size());
  const size_t at = name.rfind("_l");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view own = name.substr(0, at);
  const std::optional<int64_t> level = number_in(name.substr(at + 2));
  if (!level || (own != "weight_ih" && own != "weight_hh" && own != "bias_ih" && own != "bias_hh")) return std::nullopt;
  return RecurrentTensor{std::string(own), *level, is_reverse};
}

std::pair<std::string, std::string> head_and_tail(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), name) : std::pair(name.substr(0, dot), name.substr(dot + 1));
}

// The outer module of attention's out_proj: the tensors of both are one layer's.
std::optional<std::string> attention_around(const std::string& head, const std::map<std::string, Sizes>& file) {
  const auto [outer, last] = head_and_tail(head);
  if (last != "out_proj") return std::nullopt;
  const std::string begin = outer.empty() ? "" : outer + ".";
  if (!file.contains(begin + "in_proj_weight") && !file.contains(begin + "q_proj_weight")) return std::nullopt;
  return outer;
}

std::vector<Module> modules_of(const std::map<std::string, Sizes>& file) {
  std::map<std::tuple<std::string, int64_t, bool, bool>, Module> modules;
  const auto add = [&](Module module, const std::string& tensor, const Sizes& sizes) {
    const auto key = std::tuple(module.head, module.level, module.is_recurrent, module.is_reverse);
    modules.try_emplace(key, std::move(module)).first->second.tensors.emplace(tensor, sizes);
  };
  for (const auto& [name, sizes] : file) {
    const auto [head, tail] = head_and_tail(name);
    if (const auto recurrent = recurrent_tensor(tail)) {
      add({.head = head, .level = recurrent->level, .is_recurrent = true, .is_reverse = recurrent->is_reverse}, recurrent->own, sizes);
    } else if (const auto outer = attention_around(head, file)) {
      add({.head = *outer}, "out_proj." + tail, sizes);
    } else {
      add({.head = head}, tail, sizes);
    }
  }
  std::vector<Module> list;
  for (auto& each : modules) list.push_back(std::move(each.second));
  return list;
}

// "weight [3, 4], bias [3]": what makes two modules alike.
std::string kind_of(const std::map<std::string, Sizes>& tensors) {
  std::string text;
  for (const auto& [name, sizes] : tensors) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_text(sizes));
  return text;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.push_back(name);
  return parts;
}

// "layer12": "layer" and 12.
std::pair<std::string_view, std::optional<int64_t>> word_and_number(std::string_view part) {
  size_t digits = part.size();
  while (digits > 0 && part[digits - 1] >= '0' && part[digits - 1] <= '9') --digits;
  return {part.substr(0, digits), number_in(part.substr(digits))};
}

// Nothing where the names differ in words.
std::optional<bool> stands_before(const Module& a, const Module& b) {
  const std::vector<std::string_view> ours = parts_of(a.head), theirs = parts_of(b.head);
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (ours[i] == theirs[i]) continue;
    const auto [word, number] = word_and_number(ours[i]);
    const auto [other_word, other_number] = word_and_number(theirs[i]);
    if (word != other_word || !number || !other_number || *number == *other_number) return std::nullopt;
    return *number < *other_number;
  }
  if (ours.size() != theirs.size()) return std::nullopt;
  return std::pair(a.level, a.is_reverse) < std::pair(b.level, b.is_reverse);
}

void put_in_order(std::vector<Module>& alike, const std::vector<std::string>& layers) {
  for (size_t i = 0; i < alike.size(); ++i) {
    for (size_t j = i + 1; j < alike.size(); ++j) {
      if (stands_before(alike[i], alike[j])) continue;
      throw FormatError(fmt::format(
          "load_weights: .match_by_order: the modules {} and {} fit {} alike, and their names have no order; expected names that "
          "differ in a number. Say which is which with .names.",
          in_quotes(alike[i].shown()), in_quotes(alike[j].shown()), listed(layers)));
    }
  }
  std::ranges::sort(alike, [](const Module& a, const Module& b) { return *stands_before(a, b); });
}

std::string kind_of(const Leaf& leaf, bool is_packed) {
  const RuleFacts facts{.is_there = [&](const std::string&) { return !is_packed; }};
  std::map<std::string, Sizes> tensors;
  for (const Rule& rule : torch_rules(leaf.layer.layer()->state(), leaf.path, facts)) {
    for (const Source& source : rule.sources) tensors.emplace(source.tensor, source.sizes);
  }
  return kind_of(tensors);
}

}  // namespace

std::map<std::string, Place> places_by_order(const AnyLayer& network, const std::map<std::string, Sizes>& file) {
  std::map<std::string, std::vector<Module>> modules;
  for (Module& module : modules_of(file)) modules[kind_of(module.tensors)].push_back(std::move(module));
  std::map<std::string, std::vector<std::string>> layers;
  std::unordered_set<const Layer*> seen;
  for (const Leaf& leaf : leaves_of(network)) {
    if (!seen.insert(leaf.layer.layer().get()).second) continue;
    std::string kind = kind_of(leaf, true);
    if (!modules.contains(kind)) kind = kind_of(leaf, false);
    layers[kind].push_back(leaf.path);
  }
  std::map<std::string, Place> places;
  for (auto& [kind, paths] : layers) {
    const auto found = modules.find(kind);
    if (found == modules.end()) continue;
    std::vector<Module>& alike = found->second;
    if (alike.size() != paths.size()) {
      std::vector<std::string> names;
      for (const Module& module : alike) names.push_back(module.shown());
      throw FormatError(
          fmt::format("load_weights: .match_by_order: {} layers take {} ({}), and the file has {} such modules ({}); expected as many. Say "
                      "which is which "
                      "with .names.",
                      paths.size(), shortened(kind), listed(paths), alike.size(), listed(names)));
    }
    put_in_order(alike, paths);
    for (size_t i = 0; i < paths.size(); ++i) places.emplace(paths[i], alike[i].place());
  }
  return places;
}

}  // namespace anyshape::model
