// cond: a condition, what the regions capture -> the results of the region that the condition chooses.
#include "ops/control/cond.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "ops/all_ops.h"
#include "ops/control/region_rules.h"
#include "ops/control/replay.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const CondAttrs& attrs = call.attrs_as<CondAttrs>();
  if (call.inputs[0].dtype != Dtype::b8) call.fail_dtype("the condition is no b8", "b8[]");
  if (call.shape(0).rank() != 0) call.fail("the condition is no scalar", "b8[]");
  const std::span<const TensorSpec> captured = call.inputs.subspan(1);
  if (attrs.then_inputs < 0 || static_cast<size_t>(attrs.then_inputs) > captured.size()) {
    call.fail_argument(fmt::format("then_inputs is {}", attrs.then_inputs), fmt::format("0 to {}", captured.size()));
  }
  const auto split = static_cast<size_t>(attrs.then_inputs);
  require_inputs(call, "then", *attrs.then, 0, captured.first(split));
  require_inputs(call, "else", *attrs.otherwise, 0, captured.subspan(split));
  const std::vector<graph::Value*>&then = attrs.then->outputs, &otherwise = attrs.otherwise->outputs;
  if (then.size() != otherwise.size())
    call.fail_argument(fmt::format("the regions give {} and {} values", then.size(), otherwise.size()), "the same number");
  Specs results;
  for (size_t i = 0; i < then.size(); ++i) {
    require_spec(call, fmt::format("result {} of the branches", i), otherwise[i]->spec, then[i]->spec);
    results.push_back({then[i]->spec.dtype, then[i]->spec.shape, {}});
  }
  return results;
}

// The branch is computed again, under the same condition, and gives the gradients of what it captured; those of the other one are zeros.
std::vector<Tensor> gradient(const GradientCall& call) {
  const CondAttrs& attrs = call.attrs.as<CondAttrs>();
  const std::span<const Tensor> captured = call.inputs.subspan(1);
  const std::span<const bool> needed = call.needed.subspan(1);
  const auto split = static_cast<size_t>(attrs.then_inputs);
  std::vector<Tensor> dys(call.dys.begin(), call.dys.end());
  for (size_t i = 0; i < dys.size(); ++i) {
    if (!call.reached[i] || !is_floating(dys[i].dtype())) dys[i] = Tensor();
  }
  auto branch = [&](const graph::Graph& region, size_t first, size_t count) {
    return [&, first, count]() -> FunctionResults {
      const std::vector<Tensor> own = Replay(region, captured.subspan(first, count)).pull_back(dys, needed.subspan(first, count));
      std::vector<Tensor> gradients;
      for (size_t i = 0; i < captured.size(); ++i) {
        if (!needed[i]) continue;
        const bool flows = i >= first && i < first + count && own[i - first].defined();
        gradients.push_back(flows ? own[i - first] : zeros_like(captured[i]));
      }
      return {std::move(gradients)};
    };
  };
  const std::vector<Tensor> found =
      detail::cond_tensors(call.inputs[0], branch(*attrs.then, 0, split), branch(*attrs.otherwise, split, captured.size() - split)).tensors;
  std::vector<Tensor> gradients(call.inputs.size());
  for (size_t i = 0, next = 0; i < captured.size(); ++i) {
    if (needed[i]) gradients[i + 1] = found[next++];
  }
  return gradients;
}

void require_same_results(const Region& then, const Region& otherwise) {
  if (then.results != otherwise.results) {
    throw TraceError(
        fmt::format("cond: the branches give {} and {} tensors; expected the same number from both.", then.results, otherwise.results));
  }
  for (size_t i = 0; i < then.results; ++i) {
    const TensorSpec &a = then.graph->outputs[i]->spec, &b = otherwise.graph->outputs[i]->spec;
    if (a.dtype == b.dtype && a.shape.rank() == b.shape.rank()) continue;
    throw TraceError(fmt::format("cond: result {} is {} in one branch and {} in the other; expected the same dtype and rank. {}", i,
                                 to_string(a), to_string(b), a.dtype != b.dtype ? "Cast one of them." : "Reshape one of them."));
  }
}

// Both regions give the variables that one of them assigns; the other hands the value through.
void give_same_variables(Region& then, Region& otherwise) {
  auto has = [](const Region& region, const Region::Assigned& wanted) {
    return std::ranges::any_of(region.assigned, [&](const Region::Assigned& each) { return each.variable == wanted.variable; });
  };
  for (auto [from, to] : {std::pair(&then, &otherwise), std::pair(&otherwise, &then)}) {
    for (const Region::Assigned& each : std::vector(from->assigned)) {
      if (has(*to, each)) continue;
      hand_through(*to, each.before);
      to->assigned.push_back(each);
    }
  }
  // In the order of the first.
  std::vector<graph::Value*>& outputs = otherwise.graph->outputs;
  std::vector<graph::Value*> ordered(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(otherwise.results));
  for (const Region::Assigned& each : then.assigned) {
    const auto at = std::ranges::find(otherwise.assigned, each.variable, &Region::Assigned::variable) - otherwise.assigned.begin();
    ordered.push_back(outputs[otherwise.results + static_cast<size_t>(at)]);
  }
  outputs = std::move(ordered);
}

}  // namespace

constinit const OpDef cond_op{.name = "cond",
                              .kind = OpKind::Control,
                              .inputs = -1,
                              .dtype = dtype_rule::any,
                              .shape = shape,
                              .gradient = gradient,
                              .attrs = [] { return Attrs(CondAttrs{}); },
                              .traits = {.control = ControlFlow::Branch}};

Tensor as_condition(std::string_view op, const Tensor& condition) {
  if (!condition.defined())
    throw ArgumentError(fmt::format("{}: the condition is an empty tensor handle; expected a tensor with one element.", op));
  Tensor flag = cast(condition, Dtype::b8);
  if (flag.rank() == 0) return flag;
  for (const Dim& size : flag.shape()) {
    if (proves_equal(size, 1).value_or(true)) continue;
    throw ShapeError(fmt::format("{}: the condition is {}; expected one element. Reduce it with any() or all().", op, describe(condition)));
  }
  return reshape(flag, {});
}

Joined join(const Tensor& condition, Region then, Region otherwise) {
  for (size_t i = 0; i < std::min(then.results, otherwise.results); ++i) {
    const Dtype a = then.graph->outputs[i]->spec.dtype, b = otherwise.graph->outputs[i]->spec.dtype;
    if (a == b) continue;
    if (then.weak[i] && !otherwise.weak[i]) settle_result(then, i, b);
    if (!then.weak[i] && otherwise.weak[i]) settle_result(otherwise, i, a);
  }
  require_same_results(then, otherwise);
  give_same_variables(then, otherwise);
  Joined joined;
  if (then.graph->outputs.empty()) return joined;
  std::vector<Tensor> inputs = {as_condition("cond", condition)};
  inputs.insert(inputs.end(), then.captures.begin(), then.captures.end());
  inputs.insert(inputs.end(), otherwise.captures.begin(), otherwise.captures.end());
  joined.results = bind_all(cond_op, inputs, CondAttrs{static_cast<int64_t>(then.captures.size()), then.graph, otherwise.graph});
  for (size_t i = 0; i < then.assigned.size(); ++i)
    joined.assigned.emplace_back(then.assigned[i].variable, joined.results[then.results + i]);
  joined.results.resize(then.results);
  return joined;
}

FunctionResults detail::cond_tensors(const Tensor& condition, const std::function<FunctionResults()>& then,
                                     const std::function<FunctionResults()>& otherwise) {
  TraceScope* scope = current_trace_scope();
  if (scope == nullptr || !is_traced(condition)) return run_scope(static_cast<bool>(condition) ? then : otherwise);
  return scope->run_scope([&]() -> FunctionResults {
    std::shared_ptr<const void> layout;
    auto region = [&](std::string_view name, const std::function<FunctionResults()>& body) {
      return scope->trace_region(name, {}, [&](std::span<const Tensor>) {
        FunctionResults results = body();
        layout = std::move(results.layout);
        return std::move(results.tensors);
      });
    };
    Region first = region("then", then), second = region("else", otherwise);
    Joined joined = join(condition, std::move(first), std::move(second));
    for (const auto& [variable, value] : joined.assigned) current_variable_scope()->assign(variable, value);
    return {std::move(joined.results), std::move(layout)};
  });
}

}  // namespace anyshape
