// Variables made by a callable that is traced: allowed in its first trace, where they are lifted out of it with their initial values.
#include "function/tracer.h"
#include "graph/outside_trace.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <unordered_map>

namespace anyshape::function_detail {
namespace {

constexpr std::string_view make_it_outside =
    "Make it outside and capture it, or keep it in a std::optional<Variable> that is filled at the first call.";

std::string quoted(const VariableState& variable) {
  return variable.name.empty() ? "a variable" : fmt::format("variable \"{}\"", variable.name);
}

}  // namespace

Tensor Tracer::created(const VariableState& variable, const Tensor& initial) {
  if (!may_create_) {
    throw TraceError(
        fmt::format("function \"{}\": {} is created after the function's first trace; expected variables to be made at the first "
                    "call only. {}",
                    root_.graph->name, quoted(variable), make_it_outside));
  }
  has_created_ = true;
  return initial.impl()->traced() == nullptr ? initial : evaluate_outside(quoted(variable), initial.impl()->traced()->value);
}

// The ops behind an initial value run again, eagerly: it must not depend on the call.
Tensor Tracer::evaluate_outside(const std::string& variable, const graph::Value* wanted) const {
  const auto refuse = [&](std::string_view what) {
    throw TraceError(
        fmt::format("function \"{}\": the initial value {} of {} depends on {}; expected one that is the same for every call. {}",
                    root_.graph->name, anyshape::to_string(wanted->spec), variable, what, make_it_outside));
  };
  const OutsideTrace outside;
  std::unordered_map<const graph::Value*, Tensor> values;
  std::unordered_map<const graph::Value*, const graph::Value*> outer;  // of what a region takes from around it
  for (const TraceFrame* frame = frame_; frame != nullptr; frame = frame->outer) {
    for (const TraceFrame::Capture& each : frame->captures) {
      is_traced(each.tensor) ? void(outer.emplace(each.value, each.tensor.impl()->traced()->value))
                             : void(values.emplace(each.value, each.tensor));
    }
  }
  for (const TraceFrame::UsedVariable& each : root_.variables) values.emplace(each.input, each.state->value());
  const std::function<Tensor(const graph::Value*)> evaluate = [&](const graph::Value* value) -> Tensor {
    if (const auto known = values.find(value); known != values.end()) return known->second;
    if (const auto around = outer.find(value); around != outer.end()) return evaluate(around->second);
    if (value->node == nullptr) refuse(fmt::format("argument {}", value->index));
    std::vector<Tensor> inputs;
    for (const graph::Value* input : value->node->inputs) inputs.push_back(evaluate(input));
    const Attrs attrs = value->node->attrs.map_dims([&](const Dim& dim) {
      const Dim size = frame_->facts.simplify(dim);
      if (!size.is_constant()) refuse(fmt::format("the size {}", anyshape::to_string(size)));
      return size;
    });
    const std::vector<Tensor> results = bind_all(*value->node->op, inputs, attrs);
    for (size_t i = 0; i < results.size(); ++i) values.emplace(value->node->outputs[i], results[i]);
    return results[static_cast<size_t>(value->index)];
  };
  return evaluate(wanted);
}

}  // namespace anyshape::function_detail
