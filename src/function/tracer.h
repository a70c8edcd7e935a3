// Tracing: the callable runs once on tensors without values; every op becomes a node, every size rule that stays open a check.
#pragma once
#include "graph/bind.h"
#include "graph/graph.h"
#include "graph/stateful.h"
#include "shape/evaluate.h"
#include "shape/judge.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace anyshape::function_detail {

// The places that checks of the user's own comparisons name.
inline constexpr std::string_view comparison_place = "comparison of sizes", specialize_place = "specialize()";

// A finished trace. The graph's inputs are the arguments, then `captures`, then the values of `variables`; its outputs the results, then the
// new values of `assigned`.
struct Trace {
  std::unique_ptr<graph::Graph> graph;
  std::vector<Tensor> captures;
  std::vector<std::shared_ptr<VariableState>> variables;
  std::vector<std::shared_ptr<VariableState>> assigned;
  size_t results = 0;
  bool made_variables = false;  // then the ops of their initial values are in the graph, too
};

class Tracer final : public Interpreter, public DimJudge, public VariableScope {
 public:
  // `hints` are the sizes of the call that is traced: they decide what cannot be proved.
  Tracer(std::string name, std::span<const TensorSpec> arguments, Bindings hints);

  // Runs the callable and gives the trace; on an exception nothing remains.
  template <class Body>
  Trace run(const Body& body) {
    const ScopedInterpreter interpreter(*this);
    const ScopedJudge judge(this);
    const VariableGuard variables(*this);
    return finish(body(std::span<const Tensor>(arguments_)));
  }

  static bool is_active() { return current_variable_scope() != nullptr; }  // on this thread

  void allow_creation() { may_create_ = true; }  // of variables by the callable: where nothing was traced before

  std::vector<Tensor> run(const BoundCall& call) override;
  const Facts* facts() const override { return &facts_; }
  void require_own(std::string_view op, const Tensor& tensor) const override;
  bool decide(Relation relation, const Dim& a, const Dim& b) override;
  int64_t specialize(const Dim& dim) override;
  Tensor read(const std::shared_ptr<VariableState>& variable) override;
  void assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) override;
  Tensor created(const VariableState& variable, const Tensor& initial) override;

 private:
  struct VariableGuard {
    explicit VariableGuard(Tracer& tracer);
    ~VariableGuard();
    VariableScope* outer;
  };
  struct Slot {
    std::shared_ptr<VariableState> state;
    graph::Value* input;
    Tensor current;
    bool assigned = false;
  };
  Trace finish(std::vector<Tensor> results);
  Tensor evaluate_outside(const std::string& variable, const graph::Value* value) const;
  graph::Value* value_of(const Tensor& tensor);
  graph::Value* capture(const Tensor& tensor);
  Tensor wrap(graph::Value* value);
  Slot& slot(const std::shared_ptr<VariableState>& variable);
  void add_check(const BoundCall& call, const OpCheck& check);
  void simplify_shapes();

  uint64_t id_;
  std::unique_ptr<graph::Graph> graph_;
  std::vector<Tensor> arguments_;
  Bindings hints_;
  Facts facts_;
  struct Capture {
    Tensor tensor;
    graph::Value* value;
  };
  std::vector<Capture> captures_;
  std::vector<Slot> slots_;
  bool may_create_ = false;
  bool has_created_ = false;
};

}  // namespace anyshape::function_detail
