// scan: carried values, sequences [length, ...] -> the last carried values, outputs [length, ...].
#include "ops/control/scan.h"

#include "base/switches.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/layer_path.h"
#include "graph/regions.h"
#include "ops/all_ops.h"
#include "ops/control/hoist.h"
#include "ops/control/region_rules.h"
#include "shape/dim_node.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace anyshape {
namespace {

const Switch hoists("hoist", "what a loop computes without its carried values is computed for all steps at once");
const Switch saves_functions("save_functions", "a loop keeps what its exponentials and their like gave for its gradient");

// What the body sees of an input: the first rows, or one step of it.
TensorSpec seen_by_body(OpCall& call, const ScanAttrs& attrs, size_t input) {
  TensorSpec spec{call.inputs[input].dtype, call.inputs[input].shape, {}};
  const auto carried = static_cast<size_t>(attrs.carried);
  const bool is_carried = input < carried;
  const bool by_rows = input < attrs.body->inputs().size() && attrs.goes_by_rows(attrs.body->inputs()[input]->spec);
  if (is_carried && !by_rows) return spec;
  const std::string what = is_carried ? fmt::format("carry {}", input) : fmt::format("sequence {}", input - carried);
  if (spec.shape.rank() == 0) call.fail(fmt::format("{} is a scalar", what), is_carried ? "an axis of rows" : "an axis of steps");
  const Dim& size = by_rows ? (is_carried ? attrs.rows : attrs.total) : attrs.length;
  call.require({Relation::Equal, spec.shape[0], size}, fmt::format("{} has another length", what),
               fmt::format("{} {}", to_string(size), by_rows ? "rows" : "steps"));
  spec.shape = by_rows ? stacked_shape(attrs.active, step_shape(spec.shape)) : step_shape(spec.shape);
  return spec;
}

void require_counts_input(OpCall& call, const ScanAttrs& attrs) {
  const TensorSpec& counts = call.inputs.back();
  if (counts.dtype != Dtype::i64) call.fail_dtype("the numbers of rows are no i64", "i64[steps]");
  if (counts.shape.rank() != 1) call.fail("the numbers of rows are no vector", "i64[steps]");
  call.require({Relation::Equal, counts.shape[0], attrs.length}, "the numbers of rows have another length",
               fmt::format("{} steps", to_string(attrs.length)));
}

constexpr std::string_view carry_rule =
    "the same dtype and shape in every step. What grows by a part per step is returned as the step's output, which scan stacks; else keep "
    "it in a "
    "carry of its greatest size, with the number of its elements beside it";

std::string change_of_carry(size_t number, const std::string& before, const std::string& after) {
  return fmt::format("carry {} is {} before a step and {} after it", number, before, after);
}

void require_same_carry(OpCall& call, size_t number, const TensorSpec& before, const TensorSpec& after) {
  const std::string change = change_of_carry(number, to_string(before), to_string(after));
  if (after.dtype != before.dtype) call.fail_dtype(change, carry_rule);
  if (after.shape.rank() != before.shape.rank()) call.fail(change, carry_rule);
  for (int axis = 0; axis < after.shape.rank(); ++axis)
    call.require({Relation::Equal, before.shape[axis], after.shape[axis]}, change, carry_rule);
}

Specs shape(OpCall& call) {
  const ScanAttrs& attrs = call.attrs_as<ScanAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), sequences = static_cast<size_t>(attrs.sequences);
  const size_t own = call.inputs.size() - (attrs.is_packed() ? 1 : 0);
  if (attrs.carried < 0 || attrs.sequences < 0 || carried + sequences > own)
    call.fail_argument(fmt::format("{} carried values and {} sequences", attrs.carried, attrs.sequences), "as many inputs");
  call.require({Relation::LessEqual, 0, attrs.length}, fmt::format("the length is {}", to_string(attrs.length)), "0 or more");
  if (attrs.is_packed()) require_counts_input(call, attrs);
  std::vector<TensorSpec> given(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(own));
  for (size_t i = 0; i < carried + sequences; ++i) given[i] = seen_by_body(call, attrs, i);
  require_inputs(call, "body", *attrs.body, 0, given);
  const std::vector<graph::Value*>& outputs = attrs.body->outputs;
  if (outputs.size() < carried)
    call.fail_argument(fmt::format("the body gives {} values", outputs.size()), fmt::format("at least {}", carried));
  if (attrs.saved != 0 && (attrs.saved < attrs.carried || outputs.size() < carried + static_cast<size_t>(attrs.saved)))
    call.fail_argument(fmt::format("{} saved values", attrs.saved), "every carried value among the outputs");
  Specs results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& spec = outputs[i]->spec;
    if (i < carried) {
      require_same_carry(call, i, given[i], spec);
      results.push_back({call.inputs[i].dtype, call.inputs[i].shape, {}});
    } else if (attrs.goes_by_rows(spec)) {
      results.push_back({spec.dtype, stacked_shape(attrs.total, step_shape(spec.shape)), {}});
    } else {
      results.push_back({spec.dtype, stacked_shape(attrs.length, spec.shape), {}});
    }
  }
  return results;
}

// What is the same for every way of running a scan.
Dim length_of(const std::vector<Tensor>& carried, const std::vector<Tensor>& sequences, const ScanOptions& options) {
  auto require_defined = [](const Tensor& tensor, std::string_view what, size_t i) {
    if (!tensor.defined()) throw ArgumentError(fmt::format("scan: {} {} is an empty tensor handle; expected a tensor.", what, i));
  };
  for (size_t i = 0; i < carried.size(); ++i) require_defined(carried[i], "carry", i);
  for (size_t i = 0; i < sequences.size(); ++i) {
    require_defined(sequences[i], "sequence", i);
    if (sequences[i].rank() == 0)
      throw ShapeError(fmt::format("scan: sequence {} is {}; expected an axis of steps.", i, describe(sequences[i])));
  }
  if (!options.length && sequences.empty())
    throw ArgumentError(
        "scan: there is no sequence and no length; expected ScanOptions::length where nothing else gives the number of steps.");
  if (carried.empty() && sequences.empty()) throw ArgumentError("scan: there is no carry and no sequence; expected at least one of them.");
  return options.length ? *options.length : sequences[0].shape()[0];
}

// Functions of many instructions, whose gradients want what they gave.
bool is_long_function(const OpDef& op) { return op.traits.is_long_function && !saves_functions.is_off(); }

// Other elements that are said one by one are soon computed again; so is what moves them.
bool is_costly(const graph::Node& node) {
  const OpKind kind = node.op->kind;
  if (is_long_function(*node.op)) return true;
  return node.op->element == nullptr && !node.op->is_alias && kind != OpKind::Control && kind != OpKind::Random && kind != OpKind::Source;
}

// What a body gave, held to what it was given.
void settle_carries(Region& region, const std::vector<TensorSpec>& specs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (region.weak[i]) settle_result(region, i, specs[i].dtype);
    const TensorSpec& after = region.graph->outputs[i]->spec;
    if (after.dtype != specs[i].dtype || after.shape.rank() != specs[i].shape.rank())
      refuse_scan_carry(i, to_string(specs[i]), to_string(after));
  }
}

}  // namespace

bool begins_with(const Shape& shape, const Dim& rows) { return shape.rank() > 0 && shape[0].same_as(rows); }

bool names_rows_in_front_only(const Shape& shape, const Dim& rows) {
  for (int axis = begins_with(shape, rows) ? 1 : 0; axis < shape.rank(); ++axis) {
    if (depends_on(shape[axis], as_symbol(rows)->id)) return false;
  }
  return true;
}

bool ScanAttrs::goes_by_rows(const TensorSpec& in_body) const { return is_packed() && begins_with(in_body.shape, active); }

bool ScanAttrs::can_be_stacked(const TensorSpec& in_body) const { return !is_packed() || names_rows_in_front_only(in_body.shape, active); }

constinit const OpDef scan_op{.name = "scan",
                              .kind = OpKind::Control,
                              .inputs = -1,
                              .dtype = dtype_rule::any,
                              .shape = shape,
                              .gradient = scan_gradient,
                              .attrs = [] { return Attrs(ScanAttrs{}); },
                              .saving = saving_scan,
                              .traits = {.control = ControlFlow::Scan}};

Attrs saving_scan(const Attrs& attrs) {
  ScanAttrs saving = attrs.as<ScanAttrs>();
  if (saving.saved != 0 || saving.carried == 0) return saving;
  saving.body = graph::clone(*saving.body);
  std::vector<graph::Value*>& outputs = saving.body->outputs;
  const size_t before = outputs.size();
  for (size_t i = 0; i < static_cast<size_t>(saving.carried); ++i) outputs.push_back(saving.body->inputs()[i]);
  for (const graph::Node* node : saving.body->nodes()) {
    for (graph::Value* output : node->outputs) {
      if (is_costly(*node) && saving.can_be_stacked(output->spec)) outputs.push_back(output);
    }
  }
  saving.saved = static_cast<int64_t>(outputs.size() - before);
  return saving;
}

std::vector<Tensor> carry_variables(Region& region, size_t carried) {
  std::vector<Tensor> initial;
  std::vector<graph::Value*> inputs = region.graph->inputs();
  auto at = [](size_t index) { return static_cast<std::ptrdiff_t>(index); };
  for (const Region::Assigned& each : region.assigned) {
    initial.push_back(each.before);
    const auto used = std::ranges::find_if(region.captures, [&](const Tensor& known) { return known.impl() == each.before.impl(); });
    graph::Value* value = nullptr;
    if (used == region.captures.end()) {
      value = region.graph->add_input({each.variable->dtype, each.variable->shape, {}});
    } else {
      const size_t index = region.arguments + static_cast<size_t>(used - region.captures.begin());
      value = inputs[index + initial.size() - 1];
      inputs.erase(inputs.begin() + at(index + initial.size() - 1));
      region.captures.erase(used);
    }
    inputs.insert(inputs.begin() + at(carried + initial.size() - 1), value);
  }
  region.graph->order_inputs(std::move(inputs));
  // Their new values come after those of the other carried ones; a condition gives none.
  std::vector<graph::Value*>& outputs = region.graph->outputs;
  if (outputs.size() > region.results) std::rotate(outputs.begin() + at(carried), outputs.begin() + at(region.results), outputs.end());
  return initial;
}

Shape stacked_shape(const Dim& size, const Shape& step) {
  Shape shape{size};
  for (const Dim& each : step) shape.push_back(each);
  return shape;
}

Shape step_shape(const Shape& whole) {
  Shape rest;
  for (int axis = 1; axis < whole.rank(); ++axis) rest.push_back(whole[axis]);
  return rest;
}

void refuse_scan_carry(size_t number, const std::string& before, const std::string& after) {
  throw ShapeError(fmt::format("scan: {}; expected {}.{}", change_of_carry(number, before, after), carry_rule, current_place()));
}

Tensor settled_number(const Tensor& value) { return value.impl()->weak ? cast(value, value.dtype()) : value; }

FunctionResults trace_scan(const ScanBody& body, const std::vector<Tensor>& carried, const std::vector<Tensor>& sequences,
                           const ScanPlan& plan) {
  TraceScope& scope = *current_trace_scope();
  const bool saves = current_interpreter().records();
  return scope.run_scope([&]() -> FunctionResults {
    const size_t count = carried.size();
    std::vector<TensorSpec> specs = specs_of(carried);
    for (const Tensor& sequence : sequences) specs.push_back({sequence.dtype(), step_shape(sequence.shape()), {}});
    for (size_t i = 0; i < plan.by_rows.size(); ++i) {
      if (!plan.by_rows[i]) continue;
      specs[i].shape = stacked_shape(plan.active, i < count ? step_shape(specs[i].shape) : specs[i].shape);
    }
    std::shared_ptr<const void> layout;
    Region region = scope.trace_region("body", specs, [&](std::span<const Tensor> arguments) {
      FunctionResults step = body(arguments.first(count), arguments.subspan(count));
      layout = std::move(step.layout);
      return std::move(step.tensors);
    });
    settle_carries(region, specs, count);
    const std::vector<Tensor> variables = carry_variables(region, count);
    ScanAttrs attrs{.carried = static_cast<int64_t>(count + variables.size()),
                    .sequences = static_cast<int64_t>(sequences.size()),
                    .length = plan.length,
                    .reverse = plan.reverse,
                    .saved = 0,
                    .active = plan.active,
                    .rows = plan.rows,
                    .total = plan.total,
                    .body = region.graph};
    std::vector<Tensor> all_sequences = sequences;
    if (!hoists.is_off()) hoist(region, all_sequences, attrs);
    attrs.sequences = static_cast<int64_t>(all_sequences.size());
    std::vector<Tensor> inputs = carried;
    inputs.insert(inputs.end(), variables.begin(), variables.end());
    inputs.insert(inputs.end(), all_sequences.begin(), all_sequences.end());
    inputs.insert(inputs.end(), region.captures.begin(), region.captures.end());
    if (plan.counts.defined()) inputs.push_back(plan.counts);
    std::vector<Tensor> outputs = bind_all(scan_op, inputs, saves ? saving_scan(attrs) : Attrs(attrs));
    for (size_t i = 0; i < variables.size(); ++i) current_variable_scope()->assign(region.assigned[i].variable, outputs[count + i]);
    const auto at = outputs.begin() + static_cast<std::ptrdiff_t>(count);
    outputs.erase(at, at + static_cast<std::ptrdiff_t>(variables.size()));
    outputs.resize(region.results);
    return {std::move(outputs), std::move(layout)};
  });
}

FunctionResults detail::scan_tensors(const ScanBody& body, const std::vector<Tensor>& initial, const std::vector<Tensor>& sequences,
                                     const ScanOptions& options) {
  const ScanPlan plan{.length = length_of(initial, sequences, options), .reverse = options.reverse};
  std::vector<Tensor> carried;
  for (const Tensor& each : initial) carried.push_back(settled_number(each));
  if (current_trace_scope() == nullptr) return scan_eagerly(body, std::move(carried), sequences, plan);
  return trace_scan(body, carried, sequences, plan);
}

}  // namespace anyshape
