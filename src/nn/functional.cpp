// The functional spelling as a network: the calls that placeholders remember, put in order and run on real tensors.
#include "graph/bind.h"
#include "nn/layers/recurrent.h"
#include "nn/network.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace anyshape::nn {
namespace {

const Placeholder& placeholder_of(const Tensor& tensor, const char* what) {
  if (tensor.defined() && is_placeholder(tensor)) return *tensor.impl()->placeholder;
  throw ArgumentError(fmt::format("model: an {} is {}; expected what as::input() gives or layers make of it.", what, describe(tensor)));
}

// Calls with their inputs before them, each once.
struct Order {
  std::vector<const Placeholder::Call*> calls;
  std::unordered_set<const Placeholder::Call*> seen;

  void visit(const Tensor& tensor) {
    if (!is_placeholder(tensor)) return;
    const Placeholder::Call* call = tensor.impl()->placeholder->call.get();
    if (call->is_input() || !seen.insert(call).second) return;
    for (const Tensor& input : call->inputs) visit(input);
    calls.push_back(call);
  }
};

}  // namespace

FunctionalNetwork::FunctionalNetwork(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) : Layer("Functional") {
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
  for (const Tensor& output : outputs) {
    placeholder_of(output, "output");
    order.visit(output);
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
    const Placeholder& placeholder = *tensor.impl()->placeholder;
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
  for (const Tensor& output : outputs) outputs_.push_back(value_of(output));
  state().is_built = true;
}

// What the open sizes of the model's inputs are in this call.
Substitution FunctionalNetwork::sizes_of(std::span<const Tensor> inputs) const {
  Substitution sizes;
  for (size_t input = 0; input < inputs.size(); ++input) {
    const Shape &described = input_specs_[input].shape, given = inputs[input].shape();
    if (described.rank() != given.rank()) {
      throw ShapeError(fmt::format("model: input {} is {}; expected {}.", input, describe(inputs[input]), to_string(input_specs_[input])));
    }
    for (int axis = 0; axis < described.rank(); ++axis) {
      if (const Symbol* symbol = as_symbol(described[axis]); symbol != nullptr && !given[axis].is_ragged())
        sizes.emplace(symbol->id, given[axis]);
    }
  }
  return sizes;
}

std::vector<Tensor> FunctionalNetwork::call_all(std::span<const Tensor> inputs) const {
  if (inputs.size() != input_specs_.size()) {
    throw ArgumentError(fmt::format("model: got {} inputs; expected {}.", inputs.size(), input_specs_.size()));
  }
  const Substitution sizes = sizes_of(inputs);
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  values.insert(values.end(), constants_.begin(), constants_.end());
  for (const Step& step : steps_) {
    std::vector<Tensor> operands;
    for (const int index : step.inputs) operands.push_back(values[static_cast<size_t>(index)]);
    if (step.layer.defined()) {
      if (step.results.size() == 1) {
        values.push_back(step.layer(operands, step.options));
      } else {
        for (Tensor& result : run_all(step.layer, operands, step.options)) values.push_back(std::move(result));
      }
    } else {
      const Attrs attrs = step.attrs.map_dims([&](const Dim& size) { return substitute(size, sizes); });
      for (Tensor& result : bind_all(*step.op, operands, attrs)) values.push_back(std::move(result));
    }
  }
  std::vector<Tensor> results;
  for (const int index : outputs_) results.push_back(values[static_cast<size_t>(index)]);
  return results;
}

Tensor FunctionalNetwork::call(std::span<const Tensor> inputs, const CallContext&) {
  std::vector<Tensor> results = call_all(inputs);
  if (results.size() != 1) {
    throw ArgumentError(fmt::format(
        "model: it has {} outputs; expected one where a single tensor is asked for. Use outputs() for all of them.", results.size()));
  }
  return results[0];
}

bool FunctionalNetwork::accepts_missing() const {
  for (size_t input = 0; input < input_specs_.size(); ++input) {
    if (!accepts_missing(input)) return false;
  }
  return true;
}

bool FunctionalNetwork::accepts_missing(size_t input) const {
  return std::ranges::all_of(steps_, [&](const Step& step) {
    const bool is_reached = std::ranges::find(step.inputs, static_cast<int>(input)) != step.inputs.end();
    return !is_reached || (step.layer.defined() && step.layer.accepts_missing());
  });
}

std::vector<std::string> FunctionalNetwork::output_names() const {
  std::vector<std::string> names(input_specs_.size() + constants_.size());  // per value, in the order of call_all
  for (const Step& step : steps_) names.resize(names.size() + step.results.size(), step.layer.defined() ? step.layer.name() : "");
  std::vector<std::string> outputs;
  for (const int index : outputs_) outputs.push_back(names[static_cast<size_t>(index)]);
  return outputs;
}

}  // namespace anyshape::nn
