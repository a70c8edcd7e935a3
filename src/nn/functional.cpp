// The functional spelling as a network: the calls that placeholders remember, put in order and run on real tensors.
#include "graph/bind.h"
#include "nn/declared_inputs.h"
#include "nn/network.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace anyshape::nn {
namespace {

const Placeholder& placeholder_of(const Tensor& tensor, const char* what) {
  if (tensor.defined() && is_placeholder(tensor)) return *tensor.impl()->placeholder();
  throw ArgumentError(fmt::format("model: an {} is {}; expected what as::input() gives or layers make of it.", what, describe(tensor)));
}

// Calls with their inputs before them, each once.
struct Order {
  std::vector<const Placeholder::Call*> calls;
  std::unordered_set<const Placeholder::Call*> seen;

  void visit(const Tensor& tensor) {
    if (!is_placeholder(tensor)) return;
    const Placeholder::Call* call = tensor.impl()->placeholder()->call.get();
    if (call->is_input() || !seen.insert(call).second) return;
    for (const Tensor& input : call->inputs) visit(input);
    calls.push_back(call);
  }
};

}  // namespace

FunctionalNetwork::FunctionalNetwork(const std::vector<Tensor>& inputs, const PerOutput<Tensor>& outputs) : Layer("Functional") {
  if (inputs.empty() || outputs.empty()) throw ArgumentError("model: no inputs or no outputs are given; expected at least one of each.");
  std::unordered_map<const TensorImpl*, int> by_handle;
  std::unordered_map<const Placeholder::Call*, int> first_result;
  int next = 0;
  for (const Tensor& input : inputs) {
    const Placeholder& placeholder = placeholder_of(input, "input");
    if (!placeholder.is_input()) throw ArgumentError("model: an input is the result of a layer; expected what as::input() gives.");
    first_result.emplace(placeholder.call.get(), next++);
    input_specs_.push_back({input.dtype(), input.shape(), placeholder.name});
  }
  Order order;
  for (const ForOutput<Tensor>& output : outputs) {
    placeholder_of(output.value, "output");
    order.visit(output.value);
  }
  for (const Placeholder::Call* call : order.calls) {
    for (const Tensor& input : call->inputs) {
      if (is_placeholder(input) || by_handle.contains(input.impl().get())) continue;
      constants_.push_back(input);
      by_handle.emplace(input.impl().get(), next++);
    }
  }
  auto value_of = [&](const Tensor& tensor) {
    if (!is_placeholder(tensor)) return by_handle.at(tensor.impl().get());
    const Placeholder& placeholder = *tensor.impl()->placeholder();
    const auto found = first_result.find(placeholder.call.get());
    if (found == first_result.end()) {
      throw ArgumentError(
          fmt::format("model: an output depends on the input {}\"{}\", which is not among the model's inputs; expected all of them.",
                      placeholder.name.empty() ? "without a name " : "", placeholder.name));
    }
    return found->second + placeholder.output;
  };
  for (const Placeholder::Call* call : order.calls) {
    Step step{.op = call->op, .attrs = call->attrs, .options = call->options, .results = call->results};
    for (const Tensor& input : call->inputs) step.inputs.push_back(value_of(input));
    if (call->layer.defined()) {
      const bool is_new =
          std::ranges::none_of(state().children, [&](const AnyLayer& other) { return other.layer() == call->layer.layer(); });
      step.layer = is_new ? child(call->layer) : call->layer;
    }
    first_result.emplace(call, next);
    next += static_cast<int>(call->results.size());
    steps_.push_back(std::move(step));
  }
  for (const ForOutput<Tensor>& output : outputs) outputs_.push_back(value_of(output.value));
  name_outputs(outputs);
  state().is_built = true;
}

// What the open sizes of the model's inputs are in this call.
Substitution FunctionalNetwork::sizes_of(std::span<const Tensor> inputs) const {
  Substitution sizes;
  for (size_t input = 0; input < inputs.size(); ++input) {
    const Shape &described = input_specs_[input].shape, given = inputs[input].shape();
    for (int axis = 0; axis < described.rank(); ++axis) {
      if (const Symbol* symbol = as_symbol(described[axis]); symbol != nullptr && !given[axis].is_ragged())
        sizes.emplace(symbol->id, given[axis]);
    }
  }
  return sizes;
}

std::vector<Tensor> FunctionalNetwork::call_all(std::span<const Tensor> inputs, const CallContext&) {
  if (inputs.size() != input_specs_.size()) {
    throw ArgumentError(fmt::format("model: got {} inputs; expected {}.", inputs.size(), input_specs_.size()));
  }
  const ScopedCaller caller(state());
  std::vector<Tensor> values = held_inputs(state().name, input_specs_, inputs);
  const Substitution sizes = sizes_of(values);
  values.insert(values.end(), constants_.begin(), constants_.end());
  for (const Step& step : steps_) {
    std::vector<Tensor> operands;
    for (const int index : step.inputs) operands.push_back(values[static_cast<size_t>(index)]);
    if (step.layer.defined()) {
      for (Tensor& result : step.layer.outputs(operands, step.options).tensors()) values.push_back(std::move(result));
    } else {
      const Attrs attrs = step.attrs.map_dims([&](const Dim& size) { return substitute(size, sizes); });
      for (Tensor& result : bind_all(*step.op, operands, attrs)) values.push_back(std::move(result));
    }
  }
  std::vector<Tensor> results;
  for (const int index : outputs_) results.push_back(values[static_cast<size_t>(index)]);
  return results;
}

bool FunctionalNetwork::accepts_missing() const {
  for (size_t input = 0; input < input_specs_.size(); ++input) {
    if (!input_accepts_missing(input)) return false;
  }
  return true;
}

bool FunctionalNetwork::input_accepts_missing(size_t input) const {
  return std::ranges::all_of(steps_, [&](const Step& step) {
    const bool is_reached = std::ranges::find(step.inputs, static_cast<int>(input)) != step.inputs.end();
    return !is_reached || (step.layer.defined() && step.layer.accepts_missing());
  });
}

std::vector<std::string> FunctionalNetwork::value_names() const {
  std::vector<std::string> names;
  for (const TensorSpec& input : input_specs_) names.push_back(input.name.empty() ? fmt::format("input_{}", names.size()) : input.name);
  names.resize(names.size() + constants_.size(), "constant");
  for (const Step& step : steps_) {
    const std::string own = step.layer.defined() ? name_in(state(), step.layer) : std::string(step.op->name);
    const std::vector<std::string> parts = step.layer.defined() ? step.layer.layer()->output_names() : std::vector<std::string>();
    for (size_t i = 0; i < step.results.size(); ++i) {
      const bool is_one = step.results.size() == 1;
      names.push_back(is_one ? own : i < parts.size() ? fmt::format("{}_{}", own, parts[i]) : fmt::format("{}_{}", own, i));
    }
  }
  return names;
}

// By the user's names, else by the layers' that make them; what an op makes is called by its index.
void FunctionalNetwork::name_outputs(const PerOutput<Tensor>& outputs) {
  std::unordered_set<std::string> taken;
  for (const ForOutput<Tensor>& output : outputs) {
    if (output.output.empty() || taken.insert(output.output).second) continue;
    throw ArgumentError(fmt::format("model: two outputs are called \"{}\"; expected a name of its own for each.", output.output));
  }
  const std::vector<std::string> values = value_names();
  for (const ForOutput<Tensor>& output : outputs) {
    const size_t index = output_names_.size();
    const bool is_made_by_layer = output.value.impl()->placeholder()->call->layer.defined();
    const std::string found = is_made_by_layer ? values[static_cast<size_t>(outputs_[index])] : fmt::format("output{}", index);
    std::string name = output.output.empty() ? found : output.output;
    for (int number = 1; output.output.empty() && !taken.insert(name).second; ++number) name = fmt::format("{}_{}", found, number);
    output_names_.push_back(std::move(name));
  }
}

std::vector<std::string> FunctionalNetwork::sources() const {
  const std::vector<std::string> values = value_names();
  std::vector<std::string> sources(state().children.size());
  size_t next = input_specs_.size() + constants_.size();
  bool is_chain = input_specs_.size() == 1 && outputs_.size() == 1;
  for (const Step& step : steps_) {
    std::vector<std::string> from;
    for (const int input : step.inputs) from.push_back(values[static_cast<size_t>(input)]);
    is_chain = is_chain && step.inputs.size() == 1 && step.results.size() == 1 && static_cast<size_t>(step.inputs[0]) + 1 == next;
    next += step.results.size();
    if (!step.layer.defined()) continue;
    const auto child = std::ranges::find_if(state().children, [&](const AnyLayer& each) { return each.layer() == step.layer.layer(); });
    std::string& own = sources[static_cast<size_t>(child - state().children.begin())];
    own += fmt::format("{}{}", own.empty() ? "" : "; ", fmt::join(from, ", "));
  }
  if (is_chain) sources.assign(sources.size(), "");
  for (const int output : outputs_) sources.push_back(is_chain ? "" : values[static_cast<size_t>(output)]);
  return sources;
}

}  // namespace anyshape::nn
