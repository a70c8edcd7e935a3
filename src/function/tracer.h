// Tracing: the callable runs once on tensors without values; every op becomes a node, every size rule that stays open a check. Control flow
// traces regions in frames of their own (trace_frame.h); an `if` on a tensor runs its callable again (replay_scope.h).
#pragma once
#include "function/argument_notes.h"
#include "function/ragged_arguments.h"
#include "function/replay_scope.h"
#include "function/traced_text.h"
#include "graph/bind.h"
#include "shape/evaluate.h"
#include "shape/judge.h"
#include "tensor/branch_judge.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace anyshape::function_detail {

// Who needs a check: what those of the user's own comparisons name.
inline constexpr std::string_view comparison_place = "comparison of sizes", specialize_place = "specialize()";

// A finished trace. The graph's inputs are the arguments, then some of them once more in f64 (`wide`), then `captures`, then the values of
// `variables`; its outputs the results, then what is kept for a backward part, then the new values of `assigned`.
struct Trace {
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const TracedText> text = nullptr;  // of the graph before the passes; none of what tapes follow
  std::vector<size_t> wide;  // arguments, as the graph counts them, that meet f64: host numbers keep their 64 bits there
  std::vector<Tensor> captures;
  std::vector<std::shared_ptr<VariableState>> variables;
  std::vector<std::string> owners;  // of each of them: the layer or metric that took it first, "encoder/dense_1"; empty outside of any
  std::vector<std::shared_ptr<VariableState>> assigned;
  size_t results = 0;                                                // outputs that are results
  size_t kept = 0;                                                   // and those behind them that are kept
  RaggedResults ragged = {};                                         // which of them are rows of a ragged one
  NotesOfResults notes = {};                                         // which of them are notes on others
  std::unordered_map<const graph::Node*, double> host_numbers = {};  // of literals that are narrower: what the host gave
  bool made_variables = false;  // then it is to be made again: the ops of their initial values are in the graph, or it is not whole
};

class Tracer final : public Interpreter, public DimJudge, public BranchJudge, public VariableScope, public TraceScope {
 public:
  // `hints` are the sizes of the call that is traced: they decide what cannot be proved.
  Tracer(std::string name, std::span<const TensorSpec> arguments, Bindings hints);

  // Runs the callable and gives the trace; on an exception nothing remains.
  template <class Body>
  Trace run(const Body& body) {
    const OpenTrace open = open_trace();
    const ScopedInterpreter in_front(*this, &open);
    try {
      return finish(run_scope([&] { return body(std::span<const Tensor>(root_.arguments)); }).tensors);
    } catch (const MadeVariables&) {
      Trace trace;
      trace.made_variables = true;
      return trace;
    }
  }

  // Traces more behind a trace that run() gave and whose graph no pass has seen; gives the values of the results. What the trace takes from
  // around it is listed anew.
  template <class Body>
  std::vector<graph::Value*> resume(Trace& trace, const Body& body) {
    const OpenTrace open = open_trace();
    const ScopedInterpreter in_front(*this, &open);
    std::vector<graph::Value*> values;
    for (const Tensor& result : body()) values.push_back(value_of(result));
    require_assigned(trace);
    list_inputs(trace);
    return values;
  }
  Tensor add_input(TensorSpec spec);  // that is none of the listed ones: whoever cuts a part out of the graph gives it

  static bool is_active() { return this_thread.trace() != nullptr; }  // on this thread

  void allow_creation() { may_create_ = true; }  // of variables by the callable: where nothing was traced before

  std::vector<Tensor> run(const BoundCall& call) override;
  const Facts* facts() const override { return &frame_->facts; }
  bool records() const override { return scope_ != nullptr && scope_->is_taped; }
  void follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) override;
  void require_own(std::string_view op, const Tensor& tensor) const override;
  bool decide(Relation relation, const Dim& a, const Dim& b) override;
  int64_t specialize(const Dim& dim) override;
  std::optional<int64_t> first_value(const Dim& dim) const override;
  std::string calling_op() const override;
  std::string traced_function() const override;
  Tensor read(const std::shared_ptr<VariableState>& variable) override;
  void assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) override;
  Tensor created(const VariableState& variable, const Tensor& initial) override;
  void state_is_made() override { has_created_ = true; }

  Region trace_region(std::string_view name, std::span<const TensorSpec> arguments, const RegionBody& body) override;
  FunctionResults run_scope(const ScopeBody& body) override;
  bool branch(const Tensor& condition) override;

 private:
  struct MadeVariables {};  // thrown where a run differs from the first because that one made variables: the trace is made anew
  class Position;           // scope and frame, put back at its end

  OpenTrace open_trace() { return {.sizes = this, .branches = this, .variables = this, .regions = this}; }
  Trace finish(const std::vector<Tensor>& results);
  void list_inputs(Trace& trace);
  void require_assigned(const Trace& trace) const;  // TraceError where others are by now
  Tensor evaluate_outside(const std::string& variable, const graph::Value* value) const;
  Region finish_region(TraceFrame& frame, const std::vector<Tensor>& results);
  graph::Value* value_of(const Tensor& tensor);
  graph::Value* capture(const Tensor& tensor);
  graph::Value* add_literal(const Tensor& number);
  graph::Value* wide_argument(const BoundCall& call);
  MadeSize make_size(const BoundCall& call, Specs& outputs, const graph::Node* twin);
  void require_known(const Dim& dim) const;
  TraceFrame::UsedVariable& use(TraceFrame& frame, const std::shared_ptr<VariableState>& variable);
  void set(const std::shared_ptr<VariableState>& variable, const Tensor& value);
  void add_checks(const BoundCall& call);
  void add_check(graph::Check check);  // ShapeError where the traced call breaks it
  void add_guard(const SizeCheck& check, std::string op, std::string what);

  const TraceEvents::Recorded* recalled(TraceEvent::Kind kind);  // in a run that repeats an earlier one
  std::vector<Tensor> results_of(const TraceEvents::Recorded& recalled) const;
  void record(TraceEvent event, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  void explore(ReplayScope& scope, const ScopeBody& body);
  std::vector<Tensor> joined(TracePath& path);
  Region branch_region(TracePath& path);
  void deliver(const TraceEvents& events);
  [[noreturn]] void refuse_as_random(const std::string& what) const;

  struct Wide {
    size_t argument;
    graph::Value* value;
  };
  TraceFrame root_;
  std::vector<Wide> wide_;
  std::unordered_map<const graph::Node*, double> host_numbers_;
  Bindings hints_;
  TraceFrame* frame_;
  ReplayScope* scope_ = nullptr;
  int64_t next_stream_ = 0;
  int made_sizes_ = 0;
  bool is_delivering_ = false;  // tapes are told of calls that were made before
  bool may_create_ = false;
  bool has_created_ = false;
};

}  // namespace anyshape::function_detail
