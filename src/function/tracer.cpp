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
  const TracedTensor* const traced = tensor.impl()->traced();
  if (traced == nullptr) return capture(tensor);
  require_own("result", tensor);
  return traced->trace == frame_->id ? traced->value : capture(tensor);
}

void Tracer::require_own(std::string_view op, const Tensor& tensor) const {
  for (const TraceFrame* frame = frame_; frame != nullptr; frame = frame->outer) {
    if (tensor.impl()->traced()->trace == frame->id) return;
  }
  throw TraceError(fmt::format(
      "{}: the tensor {} is of another trace; expected values of this call of function \"{}\". Return it from the function, branch or loop "
      "body that made it, or keep it in a Variable.",
      op, describe(tensor), root_.graph->name));
}

// A tensor from outside the frame: an input that the graph holds by identity. A single number becomes a literal; in a region only a host
// number does, for a tape outside may follow any other.
graph::Value* Tracer::capture(const Tensor& tensor) {
  if (const auto known = frame_->capture_of.find(tensor.impl().get()); known != frame_->capture_of.end())
    return frame_->captures[known->second].value;
  const TensorImpl& impl = *tensor.impl();
  const bool is_number = !is_traced(tensor) && impl.rank == 0;
  if (is_number && (frame_ == &root_ || impl.weak)) return add_literal(tensor);
  const std::string name = frame_ == &root_ ? fmt::format("capture{}", frame_->captures.size()) : std::string();
  frame_->captures.push_back(
      {frame_ == &root_ ? contiguous(tensor) : tensor, frame_->graph->add_input({impl.dtype, tensor.shape(), name})});
  frame_->capture_of.emplace(frame_->captures.back().tensor.impl().get(), frame_->captures.size() - 1);  // of one that is kept
  return frame_->captures.back().value;
}

graph::Value* Tracer::add_literal(const Tensor& number) {
  ConstantAttrs attrs{.dtype = number.dtype()};
  if (!is_floating(attrs.dtype)) {
    attrs.integer = number.item<int64_t>();
  } else {
    attrs.number = attrs.dtype == Dtype::f64 ? number.item<double>() : number.item<float>();
  }
  const TensorSpec spec{attrs.dtype, {}, {}};
  const graph::Node* const node = frame_->graph->add_node(constant_op, {}, attrs, {&spec, 1});
  const double given = number.impl()->number;  // of a host number, or what was made of one
  if (is_floating(attrs.dtype) && given != 0 && given != attrs.number) host_numbers_.emplace(node, given);
  return node->outputs[0];
}

std::vector<Tensor> Tracer::run(const BoundCall& call) {
  if (const TraceEvents::Recorded* known = recalled(TraceEvent::Kind::Call)) {
    if (!is_same_call(scope_->at->events, *known, call.op, call.inputs, call.attrs))
      refuse_as_random(fmt::format("it calls {} where the first called {}, or with other values", call.op.name, known->event.op->name));
    return results_of(*known);
  }
  if (graph::Value* const wide = wide_argument(call)) {
    std::vector<Tensor> results{root_.wrap(wide)};
    record({.kind = TraceEvent::Kind::Call, .op = &call.op, .attrs = call.attrs}, call.inputs.first(1), results);
    return results;
  }
  add_checks(call);
  graph::ValueList inputs;
  for (const Tensor& input : call.inputs) inputs.push_back(value_of(input));
  Specs outputs(call.outputs.begin(), call.outputs.end());
  const graph::Node* twin = call.made ? frame_->graph->find_size(call.op, call.attrs, inputs.back()) : nullptr;
  const std::optional<MadeSize> made = call.made ? std::optional(make_size(call, outputs, twin)) : std::nullopt;
  for (TensorSpec& output : frame_->facts.empty() ? std::span<TensorSpec>() : std::span(outputs)) {
    for (int axis = 0; axis < output.shape.rank(); ++axis) output.shape[axis] = frame_->facts.simplify(output.shape[axis]);
  }
  const bool draws = call.op.kind == OpKind::Random && call.attrs.stream() == no_stream;
  const Attrs attrs = draws ? call.attrs.with_stream(next_stream_++) : call.attrs;
  const bool is_known = twin != nullptr && twin->inputs == inputs;
  const graph::Node* node = twin;
  if (!is_known) {
    graph::Node* const added = frame_->graph->add_node(call.op, std::move(inputs), attrs, outputs, made);
    added->place = current_place();
    node = added;
  }
  std::vector<Tensor> results;
  for (graph::Value* output : node->outputs) results.push_back(frame_->wrap(output));
  record({.kind = TraceEvent::Kind::Call, .op = &call.op, .attrs = call.attrs}, call.inputs, results);
  return results;
}

void Tracer::add_checks(const BoundCall& call) {
  if (call.checks.empty()) return;
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
}

// An argument that may be a host number, f32[] by itself, where it meets f64: a second input that holds all of the number. Null for any other
// call.
graph::Value* Tracer::wide_argument(const BoundCall& call) {
  if (!call.op.traits.is_cast || call.outputs[0].dtype != Dtype::f64) return nullptr;
  const TracedTensor* const traced = call.inputs[0].impl()->traced();
  if (traced == nullptr || traced->trace != root_.id || call.inputs[0].dtype() != Dtype::f32 || call.inputs[0].rank() != 0) return nullptr;
  const auto argument = std::ranges::find(root_.arguments, traced->value, [](const Tensor& each) { return each.impl()->traced()->value; });
  if (argument == root_.arguments.end()) return nullptr;
  const auto number = static_cast<size_t>(argument - root_.arguments.begin());
  const auto known = std::ranges::find(wide_, number, &Wide::argument);
  if (known != wide_.end()) return known->value;
  const std::string& name = traced->value->spec.name;
  wide_.push_back(
      {number, root_.graph->add_input({Dtype::f64, {}, fmt::format("{}.f64", name.empty() ? fmt::format("argument{}", number) : name)})});
  return wide_.back().value;
}

// The size that the outputs are written in gets its number. That of a twin, which counts the same values, is equal: what is done with
// the results of both needs no check.
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
  root_.has_learned = true;
  return made;
}

// In a region a rule is verified when the region runs: it may not, for these sizes.
void Tracer::add_check(graph::Check check) {
  check.after = frame_->graph->maker_of(check.check);
  if (frame_ == &root_ && check.after == nullptr && !check.check.holds(hints_)) graph::throw_failed(check, hints_, root_.graph->name);
  frame_->facts.assume(check.check);
  frame_->has_learned = true;
  std::vector<graph::Check>& checks = frame_->graph->checks;
  const bool known = std::ranges::any_of(checks, [&](const graph::Check& other) { return other.check.same_as(check.check); });
  if (!known) checks.push_back(std::move(check));
}

// A comparison of sizes decides what is traced, wherever it stands: it holds for the whole trace.
void Tracer::add_guard(const SizeCheck& check, std::string op, std::string what) {
  const bool known = std::ranges::any_of(
      root_.graph->checks, [&](const graph::Check& other) { return other.retrace && other.op == op && other.check.same_as(check); });
  if (known) return;
  root_.graph->checks.push_back({check, std::move(op), std::move(what), to_string(check), "", true});
  for (TraceFrame* frame = frame_; frame != nullptr; frame = frame->outer) {
    frame->facts.assume(check);
    frame->has_learned = true;
  }
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

std::string Tracer::calling_op() const {
  const NamedCall* const call = NamedCall::current();
  return call == nullptr ? std::string() : fmt::format("{}: ", call->name());
}

std::string Tracer::traced_function() const { return fmt::format("{} In function \"{}\".", current_place(), root_.graph->name); }

int64_t Tracer::specialize(const Dim& dim) {
  require_known(dim);
  const int64_t value = evaluate(dim, hints_);
  add_guard({Relation::Equal, dim, value}, std::string(specialize_place), "another size");
  return value;
}

std::optional<int64_t> Tracer::first_value(const Dim& dim) const {
  try {
    require_known(dim);
  } catch (const Error&) {  // a size that only the call's data tell
    return std::nullopt;
  }
  return evaluate(dim, hints_);
}

TraceFrame::UsedVariable& Tracer::use(TraceFrame& frame, const std::shared_ptr<VariableState>& variable) {
  if (const auto found = frame.variable_number.find(variable.get()); found != frame.variable_number.end())
    return frame.variables[found->second];
  if (frame.outer == nullptr) {
    const std::string name = variable->name.empty() ? fmt::format("variable{}", frame.variables.size()) : variable->name;
    graph::Value* input = frame.graph->add_input({variable->dtype, variable->shape, name});
    const Tensor value = frame.wrap(input);
    frame.variables.push_back({.state = variable, .input = input, .before = value, .current = value, .owner = current_owner()});
  } else {
    const Tensor around = use(*frame.outer, variable).current;
    auto impl = make_impl();
    impl->dtype = around.dtype();
    impl->rank = around.impl()->rank;
    impl->become(TracedTensor(*around.impl()->traced()));
    const Tensor value(std::move(impl));
    frame.variables.push_back({.state = variable, .input = nullptr, .before = value, .current = value});
    for (ReplayScope* scope = scope_; scope != nullptr; scope = scope->outer)
      scope->late_reads.add({.kind = TraceEvent::Kind::Read, .variable = variable}, {}, {&value, 1});
  }
  frame.variable_number.emplace(variable.get(), frame.variables.size() - 1);
  return frame.variables.back();
}

Tensor Tracer::read(const std::shared_ptr<VariableState>& variable) {
  if (const TraceEvents::Recorded* known = recalled(TraceEvent::Kind::Read)) {
    if (known->event.variable != variable) refuse_as_random("it reads another variable");
    return results_of(*known)[0];
  }
  const Tensor value = use(*frame_, variable).current;
  record({.kind = TraceEvent::Kind::Read, .variable = variable}, {}, {&value, 1});
  return value;
}

void Tracer::assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  if (const TraceEvents::Recorded* known = recalled(TraceEvent::Kind::Assign)) {
    if (known->event.variable != variable) refuse_as_random("it assigns another variable");
    return;
  }
  set(variable, value);
  record({.kind = TraceEvent::Kind::Assign, .variable = variable}, {&value, 1}, {});
}

void Tracer::set(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  const std::string operands = fmt::format("{} is {}{}, the value is {}", variable->described(), anyshape::to_string(variable->dtype),
                                           to_string(variable->shape), describe(value));
  for (int axis = 0; axis < variable->shape.rank(); ++axis) {
    const SizeCheck check{Relation::Equal, value.shape()[axis], variable->shape[axis]};
    if (!frame_->facts.proves_equal(check.a, check.b).value_or(false))
      add_check({check, "assign", fmt::format("sizes differ along axis {}", axis), "the same shape", operands});
  }
  TraceFrame::UsedVariable& target = use(*frame_, variable);
  target.current = frame_->wrap(value_of(value));  // a handle of its own, as outside a trace
  target.assigned = true;
}

Trace Tracer::finish(const std::vector<Tensor>& results) {
  Trace trace;
  root_.graph->outputs.reserve(results.size() + root_.variables.size());
  for (const Tensor& result : results) root_.graph->outputs.push_back(value_of(result));
  trace.results = results.size();
  trace.made_variables = has_created_;
  trace.host_numbers = std::move(host_numbers_);
  for (const TraceFrame::UsedVariable& each : root_.variables) {
    if (!each.assigned) continue;
    trace.assigned.push_back(each.state);
    root_.graph->outputs.push_back(value_of(each.current));
  }
  list_inputs(trace);
  trace.graph = root_.graph;
  return trace;
}

// Inputs were added as they were met; a call gives arguments, wide ones, captures and variables in this order.
void Tracer::list_inputs(Trace& trace) {
  root_.simplify_shapes();
  trace.wide.clear();
  trace.captures.clear();
  trace.variables.clear();
  trace.owners.clear();
  std::vector<graph::Value*> order;
  order.reserve(root_.graph->inputs().size());
  for (const Tensor& each : root_.arguments) order.push_back(each.impl()->traced()->value);
  for (const Wide& each : wide_) {
    trace.wide.push_back(each.argument);
    order.push_back(each.value);
  }
  for (const TraceFrame::Capture& each : root_.captures) {
    trace.captures.push_back(each.tensor);
    order.push_back(each.value);
  }
  trace.variables.reserve(root_.variables.size());
  trace.owners.reserve(root_.variables.size());
  for (const TraceFrame::UsedVariable& each : root_.variables) {
    trace.variables.push_back(each.state);
    trace.owners.push_back(each.owner);
    order.push_back(each.input);
  }
  root_.graph->order_inputs(std::move(order));
}

void Tracer::require_assigned(const Trace& trace) const {
  for (const TraceFrame::UsedVariable& each : root_.variables) {
    if (!each.assigned || std::ranges::find(trace.assigned, each.state) != trace.assigned.end()) continue;
    throw TraceError(fmt::format("function \"{}\": a gradient assigns {}; expected the callable to assign variables. Assign it outside.",
                                 root_.graph->name, each.state->described()));
  }
}

Tensor Tracer::add_input(TensorSpec spec) { return root_.wrap(root_.graph->add_input(std::move(spec))); }

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
