// The tracing interpreter.
#include "function/tracer.h"

#include "graph/check.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/source/constant.h"
#include "shape/dim_node.h"
#include "tensor/make_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {
Tracer::Tracer(std::string name, std::span<const TensorSpec> arguments, Bindings hints)
    : root_(std::move(name)), hints_(std::move(hints)), frame_(&root_) {
  for (const TensorSpec& spec : arguments) root_.add_argument(spec);
}

graph::Value* Tracer::value_of(const Tensor& tensor) {
  if (!tensor.defined()) throw ArgumentError(fmt::format("function \"{}\": a result is an empty tensor handle.", root_.graph->name));
  const TensorImpl& impl = *tensor.impl();
  if (impl.traced == nullptr) return capture(tensor);
  require_own("result", tensor);
  return impl.traced->trace == frame_->id ? impl.traced->value : capture(tensor);
}

void Tracer::require_own(std::string_view op, const Tensor& tensor) const {
  for (const TraceFrame* frame = frame_; frame != nullptr; frame = frame->outer) {
    if (tensor.impl()->traced->trace == frame->id) return;
  }
  throw TraceError(fmt::format(
      "{}: the tensor {} is of another trace; expected values of this call of function \"{}\". Return it from the function, branch or loop "
      "body that made it, or keep it in a Variable.",
      op, describe(tensor), root_.graph->name));
}

// A tensor from outside the frame: an input that the graph holds by identity. A single number becomes a literal; in a region only a host
// number does, for a tape outside may follow any other.
graph::Value* Tracer::capture(const Tensor& tensor) {
  for (const TraceFrame::Capture& known : frame_->captures) {
    if (known.tensor.impl() == tensor.impl()) return known.value;
  }
  const TensorImpl& impl = *tensor.impl();
  const bool is_number = !is_traced(tensor) && impl.rank == 0;
  if (is_number && (frame_ == &root_ || impl.weak)) return add_literal(tensor);
  const std::string name = frame_ == &root_ ? fmt::format("capture{}", frame_->captures.size()) : std::string();
  frame_->captures.push_back(
      {frame_ == &root_ ? contiguous(tensor) : tensor, frame_->graph->add_input({impl.dtype, tensor.shape(), name})});
  return frame_->captures.back().value;
}

graph::Value* Tracer::add_literal(const Tensor& number) {
  ConstantAttrs attrs{.dtype = number.dtype()};
  is_floating(attrs.dtype) ? void(attrs.number = number.item<double>()) : void(attrs.integer = number.item<int64_t>());
  const TensorSpec spec{attrs.dtype, {}, {}};
  return frame_->graph->add_node(constant_op, {}, attrs, {&spec, 1})->outputs[0];
}

std::vector<Tensor> Tracer::run(const BoundCall& call) {
  if (const TraceEvent* known = recalled(TraceEvent::Kind::Call)) {
    if (!is_same_call(*known, call.op, call.inputs, call.attrs))
      refuse_as_random(fmt::format("it calls {} where the first called {}, or with other values", call.op.name, known->op->name));
    return known->outputs;
  }
  std::vector<TensorSpec> specs;
  for (const Tensor& input : call.inputs) specs.push_back({input.dtype(), input.shape(), {}});
  const OpCall described(call.op, specs, call.attrs);
  for (const OpCheck& check : call.checks)
    add_check({.check = check.check,
               .op = std::string(called_name(call.op)),
               .what = check.what,
               .expected = check.expected,
               .operands = described.describe_inputs(),
               .place = current_place()});
  std::vector<graph::Value*> inputs;
  for (const Tensor& input : call.inputs) inputs.push_back(value_of(input));
  Specs outputs(call.outputs.begin(), call.outputs.end());
  const graph::Node* twin = call.made ? frame_->graph->find_size(call.op, call.attrs, inputs.back()) : nullptr;
  const std::optional<MadeSize> made = call.made ? std::optional(make_size(call, outputs, twin)) : std::nullopt;
  for (TensorSpec& output : outputs) {
    for (int axis = 0; axis < output.shape.rank(); ++axis) output.shape[axis] = frame_->facts.simplify(output.shape[axis]);
  }
  const bool draws = call.op.kind == OpKind::Random && call.attrs.stream() == no_stream;
  const Attrs attrs = draws ? call.attrs.with_stream(next_stream_++) : call.attrs;
  const bool is_known = twin != nullptr && twin->inputs == inputs;
  const graph::Node* node = twin;
  if (!is_known) {
    graph::Node* const added = frame_->graph->add_node(call.op, std::move(inputs), attrs, outputs, made);
    if (call.op.checks_data()) added->place = current_place();
    node = added;
  }
  std::vector<Tensor> results;
  for (graph::Value* output : node->outputs) results.push_back(frame_->wrap(output));
  record({.kind = TraceEvent::Kind::Call,
          .op = &call.op,
          .inputs = {call.inputs.begin(), call.inputs.end()},
          .attrs = call.attrs,
          .outputs = results});
  return results;
}

// The size that the outputs are written in gets its number. That of a twin, which finds its size in the same values, is equal: what is done
// with the results of both needs no check.
MadeSize Tracer::make_size(const BoundCall& call, Specs& outputs, const graph::Node* twin) {
  if (frame_ != &root_) {
    throw TraceError(
        fmt::format("{}: the size of the result depends on data; inside as::cond, as::scan, as::while_loop or an `if` on a tensor this is "
                    "not supported "
                    "yet. Compute it outside, before the branch or loop. In function \"{}\".",
                    called_name(call.op), root_.graph->name));
  }
  MadeSize made{make_data_symbol(fmt::format("{}{}", call.op.name, made_sizes_++)), root_.facts.simplify(call.made->bound)};
  graph::rename(outputs, call.made->symbol, made.symbol);
  root_.facts.assume_at_least(made.bound, made.symbol);
  if (twin != nullptr) root_.facts.assume_equal(made.symbol, twin->made->symbol);
  return made;
}

// In a region a rule is verified when the region runs: it may not, for these sizes.
void Tracer::add_check(graph::Check check) {
  check.after = frame_->graph->maker_of(check.check);
  if (frame_ == &root_ && check.after == nullptr && !check.check.holds(hints_)) graph::throw_failed(check, hints_, root_.graph->name);
  frame_->facts.assume(check.check);
  std::vector<graph::Check>& checks = frame_->graph->checks;
  const bool known = std::ranges::any_of(checks, [&](const graph::Check& other) { return other.check.same_as(check.check); });
  if (!known) checks.push_back(std::move(check));
}

// A comparison of sizes decides what is traced, wherever it stands: it holds for the whole trace.
void Tracer::add_guard(const SizeCheck& check, std::string op, std::string what) {
  root_.graph->checks.push_back({check, std::move(op), std::move(what), to_string(check), "", true});
  for (TraceFrame* frame = frame_; frame != nullptr; frame = frame->outer) frame->facts.assume(check);
}

// The first call's sizes decide, so all of them must be there before anything has run.
void Tracer::require_known(const Dim& dim) const {
  if (!depends_on_data(dim)) return;
  throw TraceError(
      fmt::format("function \"{}\": the size \"{}\" depends on data, so it has no value while the function is traced; expected a size of "
                  "the arguments. Compare it as a tensor (as::size) inside as::cond or as::where.",
                  root_.graph->name, to_string(dim)));
}

bool Tracer::decide(Relation relation, const Dim& a, const Dim& b) {
  if (const std::optional<bool> known = frame_->facts.proves(relation, a, b)) return *known;
  require_known(a);
  require_known(b);
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
  add_guard(check, std::string(comparison_place), "another outcome");
  return outcome;
}

int64_t Tracer::specialize(const Dim& dim) {
  require_known(dim);
  const int64_t value = evaluate(dim, hints_);
  add_guard({Relation::Equal, dim, value}, std::string(specialize_place), "another size");
  return value;
}

TraceFrame::Slot& Tracer::slot(TraceFrame& frame, const std::shared_ptr<VariableState>& variable) {
  const auto found = std::ranges::find(frame.slots, variable, &TraceFrame::Slot::state);
  if (found != frame.slots.end()) return *found;
  if (frame.outer == nullptr) {
    const std::string name = variable->name.empty() ? fmt::format("variable{}", frame.slots.size()) : variable->name;
    graph::Value* input = frame.graph->add_input({variable->dtype, variable->shape, name});
    const Tensor value = frame.wrap(input);
    frame.slots.push_back({variable, input, value, value});
  } else {
    const Tensor around = slot(*frame.outer, variable).current;
    auto impl = make_impl();
    impl->dtype = around.dtype();
    impl->rank = around.impl()->rank;
    impl->traced = std::make_unique<TracedTensor>(*around.impl()->traced);
    const Tensor value(std::move(impl));
    frame.slots.push_back({variable, nullptr, value, value});
    for (ReplayScope* scope = scope_; scope != nullptr; scope = scope->outer)
      scope->late_reads.push_back({.kind = TraceEvent::Kind::Read, .outputs = {value}, .variable = variable});
  }
  return frame.slots.back();
}

Tensor Tracer::read(const std::shared_ptr<VariableState>& variable) {
  if (const TraceEvent* known = recalled(TraceEvent::Kind::Read)) {
    if (known->variable != variable) refuse_as_random("it reads another variable");
    return known->outputs[0];
  }
  const Tensor value = slot(*frame_, variable).current;
  record({.kind = TraceEvent::Kind::Read, .outputs = {value}, .variable = variable});
  return value;
}

void Tracer::assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  if (const TraceEvent* known = recalled(TraceEvent::Kind::Assign)) {
    if (known->variable != variable) refuse_as_random("it assigns another variable");
    return;
  }
  set(variable, value);
  record({.kind = TraceEvent::Kind::Assign, .inputs = {value}, .variable = variable});
}

void Tracer::set(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  const std::string operands = fmt::format("{} is {}{}, the value is {}", variable->described(), anyshape::to_string(variable->dtype),
                                           to_string(variable->shape), describe(value));
  for (int axis = 0; axis < variable->shape.rank(); ++axis) {
    const SizeCheck check{Relation::Equal, value.shape()[axis], variable->shape[axis]};
    if (!frame_->facts.proves_equal(check.a, check.b).value_or(false))
      add_check({check, "assign", fmt::format("sizes differ along axis {}", axis), "the same shape", operands});
  }
  TraceFrame::Slot& target = slot(*frame_, variable);
  target.current = frame_->wrap(value_of(value));  // a handle of its own, as outside a trace
  target.assigned = true;
}

Trace Tracer::finish(const std::vector<Tensor>& results) {
  Trace trace;
  for (const Tensor& result : results) root_.graph->outputs.push_back(value_of(result));
  trace.results = results.size();
  trace.made_variables = has_created_;
  for (const TraceFrame::Slot& each : root_.slots) {
    trace.variables.push_back(each.state);
    if (!each.assigned) continue;
    trace.assigned.push_back(each.state);
    root_.graph->outputs.push_back(value_of(each.current));
  }
  simplify_shapes(*root_.graph, root_.facts);
  // Inputs were added as they were met; a call gives arguments, captures and variables in this order.
  for (const TraceFrame::Capture& each : root_.captures) trace.captures.push_back(each.tensor);
  const std::vector<graph::Value*>& inputs = root_.graph->inputs();
  std::vector<graph::Value*> order(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(root_.arguments.size()));
  for (const TraceFrame::Capture& each : root_.captures) order.push_back(each.value);
  for (const TraceFrame::Slot& each : root_.slots) order.push_back(each.input);
  root_.graph->order_inputs(std::move(order));
  trace.graph = std::move(root_.graph);
  return trace;
}

Tracer::ThreadGuard::ThreadGuard(Tracer& tracer) : outer_variables(current_variable_scope()), outer_trace(current_trace_scope()) {
  set_current_variable_scope(&tracer);
  set_current_trace_scope(&tracer);
}

Tracer::ThreadGuard::~ThreadGuard() {
  set_current_variable_scope(outer_variables);
  set_current_trace_scope(outer_trace);
}

}  // namespace anyshape::function_detail

namespace anyshape {

std::vector<TensorSpec> specs_of_results(const RegionBody& body, std::span<const TensorSpec> arguments) {
  const function_detail::Trace trace =
      function_detail::Tracer("body", arguments, {}).run([&](std::span<const Tensor> given) -> FunctionResults { return {body(given)}; });
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < trace.results; ++i) specs.push_back(trace.graph->outputs[i]->spec);
  return specs;
}

}  // namespace anyshape
