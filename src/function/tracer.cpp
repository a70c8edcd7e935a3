// The tracing interpreter.
#include "function/tracer.h"

#include "ops/all_ops.h"
#include "ops/source/constant.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {
namespace {

std::string sizes_text(const SizeCheck& check, const Bindings& values) {
  std::vector<std::string> parts;
  for (const Dim& side : {check.a, check.b}) {
    if (!side.is_constant()) parts.push_back(fmt::format("{} = {}", to_string(side), evaluate(side, values)));
  }
  return parts.empty() ? "" : " with " + parts[0] + (parts.size() > 1 ? ", " + parts[1] : "");
}

}  // namespace

Tracer::Tracer(std::string name, std::span<const TensorSpec> arguments, Bindings hints)
    : id_(new_object_id()), graph_(std::make_unique<graph::Graph>()), hints_(std::move(hints)) {
  graph_->name = std::move(name);
  for (const TensorSpec& spec : arguments) arguments_.push_back(wrap(graph_->add_input(spec)));
}

Tensor Tracer::wrap(graph::Value* value) {
  auto impl = std::make_shared<TensorImpl>();
  impl->dtype = value->spec.dtype;
  impl->rank = static_cast<int8_t>(value->spec.shape.rank());
  impl->traced = std::make_unique<TracedTensor>(TracedTensor{id_, value, value->spec.shape});
  return Tensor(std::move(impl));
}

graph::Value* Tracer::value_of(const Tensor& tensor) {
  if (!tensor.defined()) throw ArgumentError(fmt::format("function \"{}\": a result is an empty tensor handle.", graph_->name));
  const TensorImpl& impl = *tensor.impl();
  if (impl.traced == nullptr) return capture(tensor);
  require_own("result", tensor);
  return impl.traced->value;
}

void Tracer::require_own(std::string_view op, const Tensor& tensor) const {
  if (tensor.impl()->traced->trace == id_) return;
  throw TraceError(fmt::format(
      "{}: the tensor {} is of another trace; expected values of this call of function \"{}\". Return it from the function that "
      "made it, or keep it in a Variable.",
      op, describe(tensor), graph_->name));
}

// A tensor from outside the trace: a single number becomes a literal, anything larger an input that the trace holds by identity.
graph::Value* Tracer::capture(const Tensor& tensor) {
  for (const Capture& known : captures_) {
    if (known.tensor.impl() == tensor.impl()) return known.value;
  }
  const TensorImpl& impl = *tensor.impl();
  if (impl.rank == 0 && impl.dtype != Dtype::f16 && impl.dtype != Dtype::bf16) {
    ConstantAttrs attrs{.dtype = impl.dtype};
    is_floating(impl.dtype) ? void(attrs.number = tensor.item<double>()) : void(attrs.integer = tensor.item<int64_t>());
    const TensorSpec spec{impl.dtype, {}, {}};
    return graph_->add_node(constant_op, {}, attrs, {&spec, 1})->outputs[0];
  }
  captures_.push_back({contiguous(tensor), nullptr});
  captures_.back().value = graph_->add_input({impl.dtype, tensor.shape(), fmt::format("capture{}", captures_.size() - 1)});
  return captures_.back().value;
}

std::vector<Tensor> Tracer::run(const BoundCall& call) {
  for (const OpCheck& check : call.checks) add_check(call, check);
  std::vector<graph::Value*> inputs;
  for (const Tensor& input : call.inputs) inputs.push_back(value_of(input));
  std::vector<TensorSpec> outputs(call.outputs.begin(), call.outputs.end());
  for (TensorSpec& output : outputs) {
    for (int axis = 0; axis < output.shape.rank(); ++axis) output.shape[axis] = facts_.simplify(output.shape[axis]);
  }
  std::vector<Tensor> results;
  for (graph::Value* output : graph_->add_node(call.op, std::move(inputs), call.attrs, outputs)->outputs) results.push_back(wrap(output));
  return results;
}

void Tracer::add_check(const BoundCall& call, const OpCheck& check) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : call.inputs) specs.push_back({input.dtype(), input.shape(), {}});
  const std::string operands = OpCall(call.op, specs, call.attrs).describe_inputs();
  if (!check.check.holds(hints_)) {
    throw ShapeError(fmt::format("{}: {}: {}{}; expected {}. In function \"{}\".", call.op.name, check.what, operands,
                                 sizes_text(check.check, hints_), check.expected, graph_->name));
  }
  const bool known = std::ranges::any_of(graph_->checks, [&](const graph::Check& other) { return other.check.same_as(check.check); });
  if (!known) graph_->checks.push_back({check.check, std::string(call.op.name), check.what, check.expected, operands});
  facts_.assume(check.check);
}

bool Tracer::decide(Relation relation, const Dim& a, const Dim& b) {
  if (const std::optional<bool> known = facts_.proves(relation, a, b)) return *known;
  const bool outcome = SizeCheck{relation, a, b}.holds(hints_);
  SizeCheck check{relation, a, b};
  if (!outcome) {
    switch (relation) {
      case Relation::Equal: check.relation = Relation::NotEqual; break;
      case Relation::NotEqual: check.relation = Relation::Equal; break;
      case Relation::Less: check = {Relation::LessEqual, b, a}; break;
      case Relation::LessEqual: check = {Relation::Less, b, a}; break;
      case Relation::Broadcastable: throw InternalError("tracer: a broadcast is no comparison");
    }
  }
  graph_->checks.push_back({check, std::string(comparison_place), "another outcome", to_string(check), "", true});
  facts_.assume(check);
  return outcome;
}

int64_t Tracer::specialize(const Dim& dim) {
  const int64_t value = evaluate(dim, hints_);
  const SizeCheck check{Relation::Equal, dim, value};
  graph_->checks.push_back({check, std::string(specialize_place), "another size", to_string(check), "", true});
  facts_.assume(check);
  return value;
}

Tracer::Slot& Tracer::slot(const std::shared_ptr<VariableState>& variable) {
  const auto found = std::ranges::find(slots_, variable, &Slot::state);
  if (found != slots_.end()) return *found;
  const std::string name = variable->name.empty() ? fmt::format("variable{}", slots_.size()) : variable->name;
  graph::Value* input = graph_->add_input({variable->dtype, variable->shape, name});
  slots_.push_back({variable, input, wrap(input)});
  return slots_.back();
}

Tensor Tracer::read(const std::shared_ptr<VariableState>& variable) { return slot(variable).current; }

void Tracer::assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  Slot& target = slot(variable);
  target.current = wrap(value_of(value));  // a handle of its own, as outside a trace
  target.assigned = true;
}

// Equalities learned late hold from the start: every check is verified before anything runs.
void Tracer::simplify_shapes() {
  auto simplify = [&](graph::Value* value) {
    for (int axis = 0; axis < value->spec.shape.rank(); ++axis) value->spec.shape[axis] = facts_.simplify(value->spec.shape[axis]);
  };
  for (graph::Value* input : graph_->inputs()) simplify(input);
  for (graph::Node* node : graph_->nodes()) {
    for (graph::Value* output : node->outputs) simplify(output);
    node->attrs = node->attrs.map_dims([&](const Dim& dim) { return facts_.simplify(dim); });
  }
}

Trace Tracer::finish(std::vector<Tensor> results) {
  Trace trace;
  for (const Tensor& result : results) graph_->outputs.push_back(value_of(result));
  trace.results = results.size();
  trace.made_variables = has_created_;
  for (const Slot& each : slots_) {
    trace.variables.push_back(each.state);
    if (!each.assigned) continue;
    trace.assigned.push_back(each.state);
    graph_->outputs.push_back(value_of(each.current));
  }
  simplify_shapes();
  // Inputs were added as they were met; a call gives arguments, captures and variables in this order.
  for (const Capture& each : captures_) trace.captures.push_back(each.tensor);
  std::vector<graph::Value*> order(graph_->inputs().begin(), graph_->inputs().begin() + static_cast<std::ptrdiff_t>(arguments_.size()));
  for (const Capture& each : captures_) order.push_back(each.value);
  for (const Slot& each : slots_) order.push_back(each.input);
  graph_->order_inputs(std::move(order));
  trace.graph = std::move(graph_);
  return trace;
}

Tracer::VariableGuard::VariableGuard(Tracer& tracer) : outer(current_variable_scope()) { set_current_variable_scope(&tracer); }
Tracer::VariableGuard::~VariableGuard() { set_current_variable_scope(outer); }

}  // namespace anyshape::function_detail
