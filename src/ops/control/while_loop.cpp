// while_loop: carried values -> those for which the condition first fails.
#include "ops/control/while_loop.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/layer_path.h"
#include "ops/all_ops.h"
#include "ops/control/cond.h"
#include "ops/control/region_rules.h"
#include "ops/control/replay.h"
#include "ops/control/scan.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

constexpr std::string_view carry_rule =
    "the same dtype and shape in every iteration. A value that grows is kept in a tensor of its greatest size, with the number of its "
    "elements "
    "carried beside it; with a known number of steps, scan stacks what each step gives";

std::string change_of_carry(size_t number, const std::string& before, const std::string& after) {
  return fmt::format("carried value {} is {} before an iteration and {} after it", number, before, after);
}

Specs shape(OpCall& call) {
  const WhileAttrs& attrs = call.attrs_as<WhileAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), asked = static_cast<size_t>(attrs.condition_inputs);
  if (attrs.carried < 1 || attrs.condition_inputs < 0 || carried + asked > call.inputs.size())
    call.fail_argument(fmt::format("{} carried values and {} captured ones", attrs.carried, attrs.condition_inputs), "as many inputs");
  const std::span<const TensorSpec> own = call.inputs.first(carried);
  std::vector<TensorSpec> condition(own.begin(), own.end()), body(own.begin(), own.end());
  condition.insert(condition.end(), call.inputs.begin() + attrs.carried, call.inputs.begin() + attrs.carried + attrs.condition_inputs);
  body.insert(body.end(), call.inputs.begin() + attrs.carried + attrs.condition_inputs, call.inputs.end());
  require_inputs(call, "condition", *attrs.condition, 0, condition);
  require_inputs(call, "body", *attrs.body, 0, body);
  if (attrs.condition->outputs.size() != 1 || attrs.body->outputs.size() != carried)
    call.fail_argument("the regions give another number of values", "one b8[] from the condition, the carried values from the body");
  require_spec(call, "the condition", attrs.condition->outputs[0]->spec, {Dtype::b8, {}, {}});
  Specs results;
  for (size_t i = 0; i < carried; ++i) {
    const TensorSpec& after = attrs.body->outputs[i]->spec;
    const std::string change = change_of_carry(i, to_string(own[i]), to_string(after));
    if (after.dtype != own[i].dtype) call.fail_dtype(change, carry_rule);
    if (after.shape.rank() != own[i].shape.rank()) call.fail(change, carry_rule);
    for (int axis = 0; axis < after.shape.rank(); ++axis)
      call.require({Relation::Equal, own[i].shape[axis], after.shape[axis]}, change, carry_rule);
    results.push_back({own[i].dtype, own[i].shape, {}});
  }
  return results;
}

std::vector<Tensor> with(std::span<const Tensor> carried, std::span<const Tensor> captured) {
  std::vector<Tensor> all(carried.begin(), carried.end());
  all.insert(all.end(), captured.begin(), captured.end());
  return all;
}

// With a limit the loop is a scan of that many steps, of which those after the last change nothing.
std::vector<Tensor> gradient(const GradientCall& call) {
  const WhileAttrs& attrs = call.attrs.as<WhileAttrs>();
  if (attrs.max_iterations < 0) {
    throw ArgumentError(
        "while_loop: a loop without a limit has no gradient; expected WhileOptions::max_iterations, or scan where the number of steps is "
        "known.");
  }
  const auto carried = static_cast<size_t>(attrs.carried), asked = static_cast<size_t>(attrs.condition_inputs);
  const auto as_scan = [&](std::span<const Tensor> inputs) {
    const auto step = [&](std::span<const Tensor> carry, std::span<const Tensor>) -> FunctionResults {
      const Tensor goes_on = Replay(*attrs.condition, with(carry, inputs.subspan(carried, asked))).outputs()[0];
      return detail::cond_tensors(
          goes_on, [&]() -> FunctionResults { return {Replay(*attrs.body, with(carry, inputs.subspan(carried + asked))).outputs()}; },
          [&]() -> FunctionResults { return {{carry.begin(), carry.end()}}; });
    };
    return detail::scan_tensors(step, {inputs.begin(), inputs.begin() + attrs.carried}, {}, {.length = attrs.max_iterations}).tensors;
  };
  const Region whole = current_trace_scope()->trace_region("while", specs_of(call.inputs), as_scan);
  std::vector<Tensor> dys(call.dys.begin(), call.dys.end());
  for (size_t i = 0; i < dys.size(); ++i) {
    if (!call.reached[i]) dys[i] = Tensor();
  }
  return Replay(*whole.graph, call.inputs).pull_back(dys, call.needed);
}

[[noreturn]] void refuse_carry(size_t number, const std::string& before, const std::string& after) {
  throw ShapeError(fmt::format("while_loop: {}; expected {}.{}", change_of_carry(number, before, after), carry_rule, current_place()));
}

std::vector<Tensor> loop_eagerly(const detail::WhileCondition& condition, const detail::WhileBody& body, std::vector<Tensor> carried,
                                 int64_t most) {
  for (int64_t done = 0; (most < 0 || done < most) && static_cast<bool>(condition(carried)); ++done) {
    std::vector<Tensor> next = body(carried);
    if (next.size() != carried.size()) {
      throw ArgumentError(fmt::format("while_loop: the body returned {} tensors for a state of {}; expected the same number.", next.size(),
                                      carried.size()));
    }
    for (size_t i = 0; i < next.size(); ++i) {
      if (next[i].impl()->weak) next[i] = cast(next[i], carried[i].dtype());
      if (next[i].dtype() != carried[i].dtype() || !(next[i].shape() == carried[i].shape()))
        refuse_carry(i, describe(carried[i]), describe(next[i]));
    }
    carried = std::move(next);
  }
  return carried;
}

// Variables that the body assigns are carried; the condition reads them as they are then.
void carry_for_condition(Region& condition, const Region& body, size_t carried) {
  if (!condition.assigned.empty()) {
    throw TraceError(fmt::format("while_loop: the condition assigns variable \"{}\"; expected it to read only. Assign in the body.",
                                 condition.assigned[0].variable->name));
  }
  for (const Region::Assigned& each : body.assigned) {
    Region::Assigned here = each;
    for (const Region::Assigned& read : condition.variables) {
      if (read.variable == each.variable) here = read;
    }
    condition.assigned.push_back(here);
  }
  carry_variables(condition, carried);
}

}  // namespace

constinit const OpDef while_op{.name = "while_loop",
                               .kind = OpKind::Control,
                               .inputs = -1,
                               .dtype = dtype_rule::any,
                               .shape = shape,
                               .gradient = gradient,
                               .attrs = [] { return Attrs(WhileAttrs{}); },
                               .traits = {.control = ControlFlow::While}};

std::vector<Tensor> detail::while_tensors(const WhileCondition& condition, const WhileBody& body, const std::vector<Tensor>& initial,
                                          const WhileOptions& options) {
  if (initial.empty()) throw ArgumentError("while_loop: the state has no tensor; expected at least one.");
  if (options.max_iterations && *options.max_iterations < 0)
    throw ArgumentError(fmt::format("while_loop: max_iterations is {}; expected 0 or more.", *options.max_iterations));
  const int64_t most = options.max_iterations.value_or(-1);
  std::vector<Tensor> carried;
  for (size_t i = 0; i < initial.size(); ++i) {
    if (!initial[i].defined()) throw ArgumentError(fmt::format("while_loop: carry {} is an empty tensor handle; expected a tensor.", i));
    carried.push_back(initial[i].impl()->weak ? cast(initial[i], initial[i].dtype()) : initial[i]);
  }
  TraceScope* scope = current_trace_scope();
  if (scope == nullptr) return loop_eagerly(condition, body, std::move(carried), most);
  return scope
      ->run_scope([&]() -> FunctionResults {
        const size_t count = carried.size();
        const std::vector<TensorSpec> specs = specs_of(carried);
        Region asks = scope->trace_region("condition", specs, [&](std::span<const Tensor> state) {
          return std::vector<Tensor>{as_condition("while_loop", condition(state))};
        });
        Region steps = scope->trace_region("body", specs, body);
        if (steps.results != count) {
          throw ArgumentError(
              fmt::format("while_loop: the body returned {} tensors for a state of {}; expected the same number.", steps.results, count));
        }
        for (size_t i = 0; i < count; ++i) {
          if (steps.weak[i]) settle_result(steps, i, specs[i].dtype);
          const TensorSpec& after = steps.graph->outputs[i]->spec;
          if (after.dtype != specs[i].dtype || after.shape.rank() != specs[i].shape.rank())
            refuse_carry(i, to_string(specs[i]), to_string(after));
        }
        std::vector<Tensor> inputs = carried;
        const std::vector<Tensor> variables = carry_variables(steps, count);
        carry_for_condition(asks, steps, count);
        inputs.insert(inputs.end(), variables.begin(), variables.end());
        inputs.insert(inputs.end(), asks.captures.begin(), asks.captures.end());
        inputs.insert(inputs.end(), steps.captures.begin(), steps.captures.end());
        std::vector<Tensor> outputs = bind_all(while_op, inputs,
                                               WhileAttrs{.carried = static_cast<int64_t>(count + variables.size()),
                                                          .condition_inputs = static_cast<int64_t>(asks.captures.size()),
                                                          .max_iterations = most,
                                                          .condition = asks.graph,
                                                          .body = steps.graph});
        for (size_t i = 0; i < variables.size(); ++i) current_variable_scope()->assign(steps.assigned[i].variable, outputs[count + i]);
        outputs.resize(count);
        return {std::move(outputs)};
      })
      .tensors;
}

}  // namespace anyshape
