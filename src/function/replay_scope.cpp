// Runs, recalls and joins.
#include "function/replay_scope.h"

#include "function/tracer.h"
#include "graph/layer_path.h"
#include "ops/control/cond.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace anyshape::function_detail {
namespace {

// Host numbers and small tensors are made anew in every run.
bool is_same_tensor(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (is_traced(a) || is_traced(b) || a.dtype() != b.dtype() || a.impl()->weak != b.impl()->weak) return false;
  if (a.rank() != b.rank() || !a.shape().same_as(b.shape())) return false;
  const Tensor first = contiguous(a), second = contiguous(b);
  const int64_t bytes = first.impl()->count() * size_of(a.dtype());
  return bytes == 0 || std::memcmp(host_data(first), host_data(second), static_cast<size_t>(bytes)) == 0;
}

}  // namespace

bool is_same_call(const TraceEvents& events, const TraceEvents::Recorded& recorded, const OpDef& op, std::span<const Tensor> inputs,
                  const Attrs& attrs) {
  const std::span<const Tensor> known = events.inputs(recorded);
  if (recorded.event.op != &op || known.size() != inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_same_tensor(known[i], inputs[i])) return false;
  }
  std::string key, other;
  recorded.event.attrs.append_key(key);
  attrs.append_key(other);
  return key == other;
}

class Tracer::Position {
 public:
  explicit Position(Tracer& tracer) : tracer_(tracer), scope_(tracer.scope_), frame_(tracer.frame_) {}
  ~Position() {
    tracer_.scope_ = scope_;
    tracer_.frame_ = frame_;
  }
  Position(const Position&) = delete;
  Position& operator=(const Position&) = delete;

 private:
  Tracer& tracer_;
  ReplayScope* scope_;
  TraceFrame* frame_;
};

void Tracer::refuse_as_random(const std::string& what) const {
  if (has_created_) throw MadeVariables();
  throw TraceError(
      fmt::format("function \"{}\": a callable with an `if` on a tensor is run once for each outcome, and this run is not like the first: "
                  "{}; expected the same calls up to the `if`. Keep host state, random host numbers and time out of it, or use cond.",
                  root_.graph->name, what));
}

const TraceEvents::Recorded* Tracer::recalled(TraceEvent::Kind kind) {
  if (scope_ == nullptr || scope_->is_region || !scope_->at->is_complete) return nullptr;
  const TraceEvents& events = scope_->at->events;
  if (scope_->position == events.size()) refuse_as_random("it does more");
  const TraceEvents::Recorded& known = events[scope_->position++];
  if (known.event.kind != kind) refuse_as_random("it does something else");
  return &known;
}

std::vector<Tensor> Tracer::results_of(const TraceEvents::Recorded& recalled) const {
  const std::span<const Tensor> results = scope_->at->events.outputs(recalled);
  return {results.begin(), results.end()};
}

void Tracer::record(TraceEvent event, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (scope_ == nullptr || scope_->is_region) return;
  if (event.kind == TraceEvent::Kind::Call) event.place = current_place();
  scope_->at->events.add(std::move(event), inputs, outputs);
}

// What ran so far in this scope ran behind the tapes, and stays there: they are told of the one call.
void Tracer::follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  if (is_delivering_ || scope_ == nullptr || scope_->is_region) return;
  scope_->at->events.clear();
  record({.kind = TraceEvent::Kind::Call, .op = &op, .attrs = attrs}, inputs, outputs);
}

bool Tracer::branch(const Tensor& condition) {
  require_own("if", condition);
  for (const Dim& size : condition.shape()) {
    if (proves_equal(size, 1).value_or(true)) continue;
    throw ShapeError(fmt::format("bool: the tensor is {}; expected one element. Reduce it with any() or all().", describe(condition)));
  }
  ReplayScope& scope = *scope_;
  TracePath& at = *scope.at;
  if (at.is_complete) {
    if (scope.position != at.events.size() || !at.condition.defined()) refuse_as_random("it comes to an `if` too early");
    if (!is_same_tensor(at.condition, condition)) refuse_as_random("it asks for another tensor");
  } else {
    if (scope.plan.size() == most_decisions) {
      throw TraceError(fmt::format(
          "function \"{}\": more than {} decisions on tensors follow each other in one callable; expected fewer. A loop on a value "
          "is while_loop (or scan, where the number of steps is known); branches can be cond or functions of their own.",
          root_.graph->name, most_decisions));
    }
    at.condition = condition;
    at.is_complete = true;
    scope.plan.push_back(true);
  }
  const bool outcome = scope.plan[scope.decisions++];
  std::unique_ptr<TracePath>& next = outcome ? at.then : at.otherwise;
  if (next == nullptr) {
    next = std::make_unique<TracePath>();
    next->own = std::make_unique<TraceFrame>(*at.frame);
    next->frame = next->own.get();
  }
  scope.at = next.get();
  scope.position = 0;
  frame_ = next->frame;
  return outcome;
}

// Every path once, the true outcome first: the last decision that was true is false in the next run.
void Tracer::explore(ReplayScope& scope, const ScopeBody& body) {
  for (int runs = 1;; ++runs) {
    scope.at = &scope.root;
    scope.position = scope.decisions = 0;
    frame_ = scope.root.frame;
    FunctionResults results = body();
    if (scope.at->is_complete) refuse_as_random("it returns too early");
    scope.at->is_complete = true;
    scope.at->results = std::move(results.tensors);
    scope.layout = std::move(results.layout);
    while (!scope.plan.empty() && !scope.plan.back()) scope.plan.pop_back();
    if (scope.plan.empty()) return;
    scope.plan.back() = false;
    if (runs == most_runs) {
      throw TraceError(
          fmt::format("function \"{}\": decisions on tensors in one callable make more than {} paths; expected fewer. Use cond, or make "
                      "the branches functions of their own: their costs add instead of multiplying.",
                      root_.graph->name, most_runs));
    }
  }
}

std::vector<Tensor> Tracer::joined(TracePath& path) {
  if (!path.condition.defined()) return path.results;
  Region then = branch_region(*path.then), otherwise = branch_region(*path.otherwise);
  scope_->at = &path;
  path.is_complete = false;  // the join is recorded at its end
  frame_ = path.frame;
  Joined result = join(path.condition, std::move(then), std::move(otherwise));
  for (const auto& [variable, value] : result.assigned) set(variable, value);
  return result.results;
}

Region Tracer::branch_region(TracePath& path) {
  const std::vector<Tensor> results = joined(path);
  frame_ = path.frame;
  return finish_region(*path.own, results);
}

FunctionResults Tracer::run_scope(const ScopeBody& body) {
  if (const TraceEvents::Recorded* known = recalled(TraceEvent::Kind::Scope)) {
    deliver(*known->event.inner);
    return {results_of(*known), known->event.layout};
  }
  ReplayScope scope{.outer = scope_, .is_taped = current_interpreter().records()};
  scope.root.frame = frame_;
  std::vector<Tensor> results;
  {
    const Position position(*this);
    const ScopedInterpreter in_front(*this);  // a tape further out would see the calls of every run
    scope_ = &scope;
    explore(scope, body);
    results = joined(scope.root);
  }
  const auto events = std::make_shared<TraceEvents>(std::move(scope.late_reads));
  events->append(std::move(scope.root.events));
  deliver(*events);
  record({.kind = TraceEvent::Kind::Scope, .inner = events, .layout = scope.layout}, {}, results);
  return {std::move(results), std::move(scope.layout)};
}

void Tracer::deliver(const TraceEvents& events) {
  Interpreter& front = current_interpreter();
  if (&front == this) return;
  const bool before = std::exchange(is_delivering_, true);
  for (const TraceEvents::Recorded& each : events) {
    const TraceEvent& event = each.event;
    switch (event.kind) {
      case TraceEvent::Kind::Call: {
        const ScopedPlace place(event.place);
        front.follow(*event.op, events.inputs(each), event.attrs, events.outputs(each));
        break;
      }
      case TraceEvent::Kind::Read: front.on_read(*event.variable, events.outputs(each)[0]); break;
      case TraceEvent::Kind::Assign: break;
      case TraceEvent::Kind::Scope: deliver(*event.inner); break;
    }
  }
  is_delivering_ = before;
}

Region Tracer::trace_region(std::string_view name, std::span<const TensorSpec> arguments, const RegionBody& body) {
  const Position position(*this);
  TraceFrame frame(*frame_);
  for (const TensorSpec& spec : arguments) frame.add_argument(spec);
  ReplayScope mark{.outer = scope_, .is_region = true};
  scope_ = &mark;
  frame_ = &frame;
  const ScopedInterpreter in_front(*this);
  const std::vector<Tensor> results = run_scope([&]() -> FunctionResults { return {body(frame.arguments)}; }).tensors;
  for (const Tensor& result : results) {
    if (!result.defined()) throw ArgumentError(fmt::format("{}: a result is an empty tensor handle; expected a tensor.", name));
  }
  return finish_region(frame, results);
}

Region Tracer::finish_region(TraceFrame& frame, const std::vector<Tensor>& results) {
  Region region;
  region.arguments = frame.arguments.size();
  region.results = results.size();
  for (const Tensor& result : results) {
    region.weak.push_back(result.impl()->weak);
    frame.graph->outputs.push_back(value_of(result));
  }
  for (const TraceFrame::UsedVariable& each : frame.variables) {
    region.variables.push_back({each.state, each.before});
    if (!each.assigned) continue;
    region.assigned.push_back({each.state, each.before});
    frame.graph->outputs.push_back(value_of(each.current));
  }
  frame.simplify_shapes();
  for (const TraceFrame::Capture& each : frame.captures) region.captures.push_back(each.tensor);
  region.graph = std::move(frame.graph);
  return region;
}

}  // namespace anyshape::function_detail
