// PyTorch's modules beside our layers. Most weights are the same numbers along other axes; recurrent layers have their gates in another order, and
// attention has its projections in one tensor.
#include "model/weights/rules.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace anyshape::model {
namespace {

using Weights = std::vector<LayerState::Weight>;

Tensor turned_axes(const Tensor& x) { return row_major(transpose(x)); }

Rule as_it_is(const Variable& weight, std::string tensor, std::string says) {
  return {.weight = weight.name(), .sources = {{std::move(tensor), sizes_of(weight)}}, .says = std::move(says)};
}

Shape shape_of(const Sizes& sizes) {
  Shape shape;
  for (const int64_t size : sizes) shape.push_back(size);
  return shape;
}

// [in, out] <- [out, in]
Rule linear_kernel(const Variable& weight, std::string tensor) {
  const Sizes own = sizes_of(weight);
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), {own[1], own[0]}}},
          .turn = [](const std::vector<Tensor>& from) { return turned_axes(from[0]); },
          .says = "a Linear keeps its weight [out, in]"};
}

// [k..., b, a] <- [a, b, k...]: a convolution is [out, in / groups, k...] there, a transposed one [in, out, k...].
Rule spatial_kernel(const Variable& weight, std::string tensor, std::string says) {
  const Sizes own = sizes_of(weight);
  const auto axes = static_cast<int64_t>(own.size()) - 2;
  Sizes theirs{own[own.size() - 1], own[own.size() - 2]};
  theirs.insert(theirs.end(), own.begin(), own.end() - 2);
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), std::move(theirs)}},
          .turn =
              [axes](const std::vector<Tensor>& from) {
                std::vector<int64_t> order(static_cast<size_t>(axes));
                std::iota(order.begin(), order.end(), 2);
                order.insert(order.end(), {1, 0});
                return row_major(transpose(from[0], order));
              },
          .says = std::move(says)};
}

// [k..., in, multiplier] <- [in * multiplier, 1, k...]
Rule depthwise_kernel(const Variable& weight, std::string tensor) {
  const Sizes own = sizes_of(weight);
  const auto axes = static_cast<int64_t>(own.size()) - 2;
  const int64_t channels = own[own.size() - 2], multiplier = own[own.size() - 1];
  Sizes theirs{channels * multiplier, 1}, apart{channels, multiplier};
  theirs.insert(theirs.end(), own.begin(), own.end() - 2);
  apart.insert(apart.end(), own.begin(), own.end() - 2);
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), std::move(theirs)}},
          .turn =
              [axes, apart](const std::vector<Tensor>& from) {
                std::vector<int64_t> order(static_cast<size_t>(axes));
                std::iota(order.begin(), order.end(), 2);
                order.insert(order.end(), {0, 1});
                return row_major(transpose(reshape(from[0], shape_of(apart)), order));
              },
          .says = "a convolution of each channel keeps its weight [channels * multiplier, 1, k...]"};
}

using LayerRules = std::vector<Rule> (*)(const LayerState&, const std::string&, const RuleFacts&);

// Weights under other names, as they are.
template <class Names>
std::vector<Rule> renamed(const Weights& weights, const Names& names, const std::string& says) {
  std::vector<Rule> rules;
  for (const LayerState::Weight& weight : weights) {
    const std::string& own = weight.variable.name();
    const auto found = std::ranges::find(names, own, &std::pair<const char*, const char*>::first);
    rules.push_back(as_it_is(weight.variable, found == std::ranges::end(names) ? own : found->second, says));
  }
  return rules;
}

std::vector<Rule> dense(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules{linear_kernel(layer.weights[0].variable, "weight")};
  if (layer.weights.size() > 1) rules.push_back(as_it_is(layer.weights[1].variable, "bias", "a Linear keeps its bias [out]"));
  return rules;
}

std::vector<Rule> convolution(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules{spatial_kernel(layer.weights[0].variable, "weight", "a convolution keeps its weight [out, in / groups, k...]")};
  if (layer.weights.size() > 1) rules.push_back(as_it_is(layer.weights[1].variable, "bias", "a convolution keeps its bias [out]"));
  return rules;
}

std::vector<Rule> transposed(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules{spatial_kernel(layer.weights[0].variable, "weight", "a transposed convolution keeps its weight [in, out, k...]")};
  if (layer.weights.size() > 1) {
    rules.push_back(as_it_is(layer.weights[1].variable, "bias", "a transposed convolution keeps its bias [out]"));
  }
  return rules;
}

std::vector<Rule> depthwise(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules{depthwise_kernel(layer.weights[0].variable, "weight")};
  if (layer.weights.size() > 1) {
    rules.push_back(as_it_is(layer.weights[1].variable, "bias", "a convolution of each channel keeps its bias [out]"));
  }
  return rules;
}

// Two modules there, "depthwise" and "pointwise" unless they are named.
std::vector<Rule> separable(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules{
      depthwise_kernel(layer.weights[0].variable, "depthwise.weight"),
      spatial_kernel(layer.weights[1].variable, "pointwise.weight", "a convolution keeps its weight [out, in / groups, k...]")};
  if (layer.weights.size() > 2) {
    rules.push_back(as_it_is(layer.weights[2].variable, "pointwise.bias", "a convolution keeps its bias [out]"));
  }
  return rules;
}

std::vector<Rule> embedding(const LayerState& layer, const std::string&, const RuleFacts&) {
  return {as_it_is(layer.weights[0].variable, "weight", "an Embedding keeps its weight [ids, size]")};
}

std::vector<Rule> normalization(const LayerState& layer, const std::string&, const RuleFacts&) {
  static constexpr std::array<std::pair<const char*, const char*>, 4> names = {
      {{"gamma", "weight"}, {"beta", "bias"}, {"moving_mean", "running_mean"}, {"moving_variance", "running_var"}}};
  return renamed(layer.weights, names, "a normalisation keeps one number for each channel");
}

std::vector<Rule> of_own_layer(const LayerState& layer, const std::string&, const RuleFacts&) {
  std::vector<Rule> rules;
  for (const LayerState::Weight& weight : layer.weights) {
    std::string tensor = weight.variable.name();
    std::ranges::replace(tensor, '/', '.');
    rules.push_back(as_it_is(weight.variable, std::move(tensor), "weights of a layer of your own are taken as they are"));
  }
  return rules;
}

// The gates of a recurrent module, one below the other there, in our order.
Tensor in_order(const Tensor& x, const std::vector<int>& gates) {
  if (std::ranges::is_sorted(gates)) return x;
  const std::vector<Tensor> parts = split(x, static_cast<int64_t>(gates.size()), {.axis = 0});
  std::vector<Tensor> ordered;
  for (const int gate : gates) ordered.push_back(parts[static_cast<size_t>(gate)]);
  return concat(ordered, 0);
}

struct Gates {
  const char* module;
  const char* says;
  std::vector<int> order;  // which of theirs is our first, second, ...
};

std::vector<Rule> recurrent(const LayerState& layer, const Gates& gates) {
  const auto kernel = [&](const Variable& weight, const char* tensor) -> Rule {
    const Sizes own = sizes_of(weight);
    return {.weight = weight.name(),
            .sources = {{tensor, {own[1], own[0]}}},
            .turn = [order = gates.order](const std::vector<Tensor>& from) { return turned_axes(in_order(from[0], order)); },
            .says = fmt::format("{} keeps {} [{} * units, size], {}", gates.module, tensor, gates.order.size(), gates.says),
            .has_level = true};
  };
  std::vector<Rule> rules{kernel(layer.weights[0].variable, "weight_ih"), kernel(layer.weights[1].variable, "weight_hh")};
  if (layer.weights.size() < 3) return rules;
  const Variable& bias = layer.weights[2].variable;
  const Sizes own = sizes_of(bias);
  const bool is_apart = own.size() == 2;  // of the two products, where each has its own
  rules.push_back({.weight = bias.name(),
                   .sources = {{"bias_ih", {own.back()}}, {"bias_hh", {own.back()}}},
                   .turn =
                       [order = gates.order, is_apart](const std::vector<Tensor>& from) {
                         const Tensor input = in_order(from[0], order), state = in_order(from[1], order);
                         return is_apart ? stack({input, state}) : input + state;
                       },
                   .says = fmt::format("{} keeps bias_ih and bias_hh [{} * units], {}", gates.module, gates.order.size(), gates.says),
                   .has_level = true});
  return rules;
}

std::vector<Rule> lstm(const LayerState& layer, const std::string&, const RuleFacts&) {
  return recurrent(layer, {"an LSTM", "gates in the order i, f, g, o", {0, 1, 2, 3}});
}

std::vector<Rule> gru(const LayerState& layer, const std::string& path, const RuleFacts&) {
  if (layer.made != nullptr && !layer.made->config()["reset_after"].as_bool()) {
    throw ArgumentError(
        fmt::format("load_weights: layer \"{}\" is a GRU with reset_after = false, and PyTorch's GRU resets behind the recurrent product; "
                    "expected GRU(units, {{.reset_after = true}}).",
                    path));
  }
  return recurrent(layer, {"a GRU", "gates in the order r, z, n", {1, 0, 2}});
}

std::vector<Rule> simple_rnn(const LayerState& layer, const std::string&, const RuleFacts&) {
  return recurrent(layer, {"an RNN", "one gate", {0}});
}

// A projection to heads [in, heads, depth] from rows `first` on of a packed tensor of `rows` rows, or from a tensor of its own.
Rule projection(const Variable& weight, const std::string& part, std::string tensor, int64_t rows, int64_t first, std::string says) {
  const Sizes own = sizes_of(weight);
  const int64_t width = own[1] * own[2];
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), {rows, own[0]}}},
          .turn =
              [own, first, width](const std::vector<Tensor>& from) {
                const Tensor part_of_it = slice(from[0], {{.begin = first, .end = first + width}});
                return reshape(turned_axes(part_of_it), shape_of(own));
              },
          .says = std::move(says),
          .part = part};
}

Rule projection_bias(const Variable& weight, const std::string& part, std::string tensor, int64_t rows, int64_t first, std::string says) {
  const Sizes own = sizes_of(weight);
  const int64_t width = own[0] * own[1];
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), {rows}}},
          .turn =
              [own, first, width](const std::vector<Tensor>& from) {
                return reshape(row_major(slice(from[0], {{.begin = first, .end = first + width}})), shape_of(own));
              },
          .says = std::move(says),
          .part = part};
}

// [heads, depth, out] <- [out, heads * depth]
Rule merged_heads(const Variable& weight, std::string tensor) {
  const Sizes own = sizes_of(weight);
  return {.weight = weight.name(),
          .sources = {{std::move(tensor), {own[2], own[0] * own[1]}}},
          .turn = [own](const std::vector<Tensor>& from) { return reshape(turned_axes(from[0]), shape_of(own)); },
          .says = "attention keeps its out_proj.weight [out, heads * depth]",
          .part = "attention_output"};
}

std::vector<Rule> attention(const LayerState& layer, const std::string&, const RuleFacts& facts) {
  constexpr const char* packed_says = "attention keeps query, key and value below each other in in_proj_weight [3 * size, in]";
  constexpr const char* bias_says = "attention keeps query, key and value behind each other in in_proj_bias [3 * size]";
  const auto width_of = [&](const std::string& part) {
    for (const LayerState::Weight& weight : layer.weights) {
      if (weight.variable.name() != part + "/kernel") continue;
      const Sizes own = sizes_of(weight.variable);
      return own[1] * own[2];
    }
    return int64_t{0};
  };
  const int64_t query = width_of("query"), key = width_of("key"), all = query + key + width_of("value");
  const std::unordered_map<std::string, int64_t> firsts{{"query", 0}, {"key", query}, {"value", query + key}};
  const bool is_packed = !facts.is_there || !facts.is_there("q_proj_weight");
  std::vector<Rule> rules;
  for (const LayerState::Weight& weight : layer.weights) {
    const std::string& name = weight.variable.name();
    const std::string part = name.substr(0, name.find('/'));
    const bool is_kernel = name.ends_with("/kernel"), is_alone = facts.is_named && facts.is_named(part);
    if (part == "attention_output") {
      const std::string module = is_alone ? "" : "out_proj.";
      rules.push_back(is_kernel ? merged_heads(weight.variable, module + "weight")
                                : as_it_is(weight.variable, module + "bias", "attention keeps its out_proj.bias [out]"));
      rules.back().part = part;
      continue;
    }
    const int64_t own = width_of(part), first = firsts.at(part);
    if (is_alone) {
      rules.push_back(is_kernel ? projection(weight.variable, part, "weight", own, 0, "a Linear keeps its weight [out, in]")
                                : projection_bias(weight.variable, part, "bias", own, 0, "a Linear keeps its bias [out]"));
    } else if (!is_kernel) {
      rules.push_back(projection_bias(weight.variable, part, "in_proj_bias", all, first, bias_says));
    } else if (is_packed) {
      rules.push_back(projection(weight.variable, part, "in_proj_weight", all, first, packed_says));
    } else {
      rules.push_back(projection(weight.variable, part, fmt::format("{}_proj_weight", part.substr(0, 1)), own, 0,
                                 "attention over inputs of several sizes keeps q_proj_weight, k_proj_weight and v_proj_weight [size, in]"));
    }
  }
  return rules;
}

LayerRules rules_for(const std::string& type) {
  static const std::unordered_map<std::string, LayerRules> known = {{"Dense", dense},
                                                                    {"Conv1D", convolution},
                                                                    {"Conv2D", convolution},
                                                                    {"Conv3D", convolution},
                                                                    {"Conv1DTranspose", transposed},
                                                                    {"Conv2DTranspose", transposed},
                                                                    {"Conv3DTranspose", transposed},
                                                                    {"DepthwiseConv1D", depthwise},
                                                                    {"DepthwiseConv2D", depthwise},
                                                                    {"SeparableConv1D", separable},
                                                                    {"SeparableConv2D", separable},
                                                                    {"Embedding", embedding},
                                                                    {"LayerNormalization", normalization},
                                                                    {"BatchNormalization", normalization},
                                                                    {"GroupNormalization", normalization},
                                                                    {"LSTM", lstm},
                                                                    {"GRU", gru},
                                                                    {"SimpleRNN", simple_rnn},
                                                                    {"MultiHeadAttention", attention}};
  const auto found = known.find(type);
  return found == known.end() ? of_own_layer : found->second;
}

}  // namespace

std::string to_text(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

Sizes sizes_of(const Variable& variable) {
  const Shape shape = variable.shape();
  Sizes sizes;
  for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis].value());
  return sizes;
}

std::vector<Rule> torch_rules(const LayerState& layer, const std::string& path, const RuleFacts& facts) {
  if (layer.weights.empty()) return {};
  return rules_for(layer.type)(layer, path, facts);
}

std::vector<Rule> own_rules(const LayerState& layer) {
  std::vector<Rule> rules;
  for (const LayerState::Weight& weight : layer.weights) rules.push_back(as_it_is(weight.variable, weight.variable.name(), ""));
  return rules;
}

void take_flattened(Rule& kernel, const Sizes& image) {
  kernel.turn = [image](const std::vector<Tensor>& from) {
    const Dim outputs = from[0].shape()[0];
    Shape apart{outputs};
    std::vector<int64_t> order;
    for (size_t axis = 0; axis < image.size(); ++axis) apart.push_back(image[axis]);
    for (size_t axis = 1; axis < image.size(); ++axis) order.push_back(static_cast<int64_t>(axis) + 1);
    order.insert(order.end(), {1, 0});  // [out, c, h, w] -> [h, w, c, out]
    return reshape(row_major(transpose(reshape(from[0], apart), order)), {from[0].shape()[1], outputs});
  };
}

}  // namespace anyshape::model
