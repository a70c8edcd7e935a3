// scan: carried values, sequences [length, ...] -> the last carried values, outputs [length, ...].
#include "ops/control/scan.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/regions.h"
#include "ops/all_ops.h"
#include "ops/control/region_rules.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

Shape with_first(const Dim& size, const Shape& rest) {
  Shape shape{size};
  for (const Dim& each : rest) shape.push_back(each);
  return shape;
}

Shape without_first(const Shape& shape) {
  Shape rest;
  for (int axis = 1; axis < shape.rank(); ++axis) rest.push_back(shape[axis]);
  return rest;
}

Specs shape(OpCall& call) {
  const ScanAttrs& attrs = call.attrs_as<ScanAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), sequences = static_cast<size_t>(attrs.sequences);
  if (attrs.carried < 0 || attrs.sequences < 0 || carried + sequences > call.inputs.size())
    call.fail_argument(fmt::format("{} carried values and {} sequences", attrs.carried, attrs.sequences), "as many inputs");
  call.require({Relation::LessEqual, 0, attrs.length}, fmt::format("the length is {}", to_string(attrs.length)), "0 or more");
  std::vector<TensorSpec> given(call.inputs.begin(), call.inputs.end());
  for (size_t i = carried; i < carried + sequences; ++i) {
    if (given[i].shape.rank() == 0) call.fail(fmt::format("sequence {} is a scalar", i - carried), "an axis of steps");
    call.require({Relation::Equal, given[i].shape[0], attrs.length}, fmt::format("sequence {} has another length", i - carried),
                 fmt::format("{} steps", to_string(attrs.length)));
    given[i].shape = without_first(given[i].shape);
  }
  require_inputs(call, "body", *attrs.body, 0, given);
  const std::vector<graph::Value*>& outputs = attrs.body->outputs;
  if (outputs.size() < carried)
    call.fail_argument(fmt::format("the body gives {} values", outputs.size()), fmt::format("at least {}", carried));
  if (attrs.saves && outputs.size() < 2 * carried) call.fail_argument("the body saves less than it carries", "every carried value");
  Specs results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i < carried) require_spec(call, fmt::format("carry {}", i), outputs[i]->spec, given[i]);
    results.push_back(i < carried ? TensorSpec{given[i].dtype, given[i].shape, {}}
                                  : TensorSpec{outputs[i]->spec.dtype, with_first(attrs.length, outputs[i]->spec.shape), {}});
  }
  return results;
}

[[noreturn]] void refuse_carry(size_t number, const std::string& before, const std::string& after) {
  throw ShapeError(
      fmt::format("scan: carry {} is {} before a step and {} after it; expected the same dtype and shape.", number, before, after));
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

std::vector<Tensor> slices_at(const std::vector<Tensor>& sequences, int64_t step) {
  std::vector<Tensor> slices;
  for (const Tensor& sequence : sequences) {
    const Tensor one = slice(sequence, {{.begin = step, .end = step + 1}});
    slices.push_back(reshape(one, without_first(one.shape())));
  }
  return slices;
}

Tensor settled_number(const Tensor& value) { return value.impl()->weak ? cast(value, value.dtype()) : value; }

// A loop that runs: the tapes see its steps.
FunctionResults loop_eagerly(const ScanBody& body, std::vector<Tensor> carried, const std::vector<Tensor>& sequences, const Dim& length,
                             const ScanOptions& options) {
  const int64_t steps = length.value();
  if (steps < 0) throw ShapeError(fmt::format("scan: the length is {}; expected 0 or more.", steps));
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].shape()[0].value() != steps)
      throw ShapeError(fmt::format("scan: sequence {} is {}; expected {} steps along its first axis.", i, describe(sequences[i]), steps));
  }
  const size_t count = carried.size();
  std::vector<std::vector<Tensor>> stacked;
  std::shared_ptr<const void> layout;
  for (int64_t done = 0; done < steps; ++done) {
    const int64_t at = options.reverse ? steps - 1 - done : done;
    FunctionResults step = body(carried, slices_at(sequences, at));
    layout = std::move(step.layout);
    for (size_t i = 0; i < count; ++i) {
      Tensor next = step.tensors[i].impl()->weak ? cast(step.tensors[i], carried[i].dtype()) : step.tensors[i];
      if (next.dtype() != carried[i].dtype() || !(next.shape() == carried[i].shape()))
        refuse_carry(i, describe(carried[i]), describe(next));
      carried[i] = std::move(next);
    }
    stacked.resize(step.tensors.size() - count);
    for (size_t i = 0; i < stacked.size(); ++i) stacked[i].push_back(settled_number(step.tensors[count + i]));
  }
  std::vector<Tensor> results = std::move(carried);
  if (steps == 0) {
    std::vector<TensorSpec> specs = specs_of(results);
    for (const Tensor& sequence : sequences) specs.push_back({sequence.dtype(), without_first(sequence.shape()), {}});
    const std::vector<TensorSpec> given = specs_of_results(
        [&](std::span<const Tensor> arguments) {
          FunctionResults step = body(arguments.first(count), arguments.subspan(count));
          layout = std::move(step.layout);
          return std::move(step.tensors);
        },
        specs);
    for (size_t i = count; i < given.size(); ++i) results.push_back(zeros(with_first(0, given[i].shape), {.dtype = given[i].dtype}));
  }
  for (std::vector<Tensor>& each : stacked) {
    if (options.reverse) std::ranges::reverse(each);
    results.push_back(stack(each));
  }
  return {std::move(results), std::move(layout)};
}

}  // namespace

constinit const OpDef scan_op{.name = "scan",
                              .kind = OpKind::Control,
                              .inputs = -1,
                              .dtype = dtype_rule::any,
                              .shape = shape,
                              .gradient = scan_gradient,
                              .attrs = [] { return Attrs(ScanAttrs{}); },
                              .saving = saving_scan};

Attrs saving_scan(const Attrs& attrs) {
  ScanAttrs saving = attrs.as<ScanAttrs>();
  if (saving.saves) return saving;
  saving.saves = true;
  saving.body = graph::clone(*saving.body);
  for (size_t i = 0; i < static_cast<size_t>(saving.carried); ++i) saving.body->outputs.push_back(saving.body->inputs()[i]);
  return saving;
}

std::vector<Tensor> carry_variables(Region& region, size_t carried) {
  std::vector<Tensor> initial;
  std::vector<graph::Value*> inputs = region.graph->inputs();
  auto at = [](size_t place) { return static_cast<std::ptrdiff_t>(place); };
  for (const Region::Assigned& each : region.assigned) {
    initial.push_back(each.before);
    const auto used = std::ranges::find_if(region.captures, [&](const Tensor& known) { return known.impl() == each.before.impl(); });
    graph::Value* value = nullptr;
    if (used == region.captures.end()) {
      value = region.graph->add_input({each.variable->dtype, each.variable->shape, {}});
    } else {
      const size_t place = region.arguments + static_cast<size_t>(used - region.captures.begin());
      value = inputs[place + initial.size() - 1];
      inputs.erase(inputs.begin() + at(place + initial.size() - 1));
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

FunctionResults scan_tensors(const ScanBody& body, const std::vector<Tensor>& initial, const std::vector<Tensor>& sequences,
                             const ScanOptions& options) {
  const Dim length = length_of(initial, sequences, options);
  std::vector<Tensor> carried;
  for (const Tensor& each : initial) carried.push_back(settled_number(each));
  TraceScope* scope = current_trace_scope();
  if (scope == nullptr) return loop_eagerly(body, std::move(carried), sequences, length, options);
  const bool saves = current_interpreter().records();
  return scope->run_scope([&]() -> FunctionResults {
    const size_t count = carried.size();
    std::vector<TensorSpec> specs = specs_of(carried);
    for (const Tensor& sequence : sequences) specs.push_back({sequence.dtype(), without_first(sequence.shape()), {}});
    std::shared_ptr<const void> layout;
    Region region = scope->trace_region("body", specs, [&](std::span<const Tensor> arguments) {
      FunctionResults step = body(arguments.first(count), arguments.subspan(count));
      layout = std::move(step.layout);
      return std::move(step.tensors);
    });
    for (size_t i = 0; i < count; ++i) {
      if (region.weak[i]) settle_result(region, i, specs[i].dtype);
      const TensorSpec& after = region.graph->outputs[i]->spec;
      if (after.dtype != specs[i].dtype || after.shape.rank() != specs[i].shape.rank())
        refuse_carry(i, to_string(specs[i]), to_string(after));
    }
    std::vector<Tensor> inputs = carried;
    const std::vector<Tensor> variables = carry_variables(region, count);
    inputs.insert(inputs.end(), variables.begin(), variables.end());
    inputs.insert(inputs.end(), sequences.begin(), sequences.end());
    inputs.insert(inputs.end(), region.captures.begin(), region.captures.end());
    Attrs attrs = ScanAttrs{.carried = static_cast<int64_t>(count + variables.size()),
                            .sequences = static_cast<int64_t>(sequences.size()),
                            .length = length,
                            .reverse = options.reverse,
                            .saves = false,
                            .body = region.graph};
    std::vector<Tensor> outputs = bind_all(scan_op, inputs, saves ? saving_scan(attrs) : attrs);
    for (size_t i = 0; i < variables.size(); ++i) current_variable_scope()->assign(region.assigned[i].variable, outputs[count + i]);
    const auto at = outputs.begin() + static_cast<std::ptrdiff_t>(count);
    outputs.erase(at, at + static_cast<std::ptrdiff_t>(variables.size()));
    outputs.resize(region.results);
    return {std::move(outputs), std::move(layout)};
  });
}

}  // namespace anyshape
