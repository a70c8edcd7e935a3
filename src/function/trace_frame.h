// One graph being traced: the function's own, or a region inside it. What a region uses from around it becomes its input.
#pragma once
#include "graph/graph.h"
#include "graph/stateful.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace anyshape::function_detail {

struct TraceFrame {
  explicit TraceFrame(std::string name) : graph(std::make_shared<graph::Graph>()) { graph->name = std::move(name); }
  explicit TraceFrame(TraceFrame& around) : TraceFrame(around.graph->name) {
    outer = &around;
    facts = around.facts;
  }

  struct Capture {
    Tensor tensor;
    graph::Value* value;
  };
  struct UsedVariable {
    std::shared_ptr<VariableState> state;
    graph::Value* input;  // of the function's own frame
    Tensor before;        // where the frame begins; a handle of its own, so that it is not taken for another reading
    Tensor current;
    bool assigned = false;
    std::string owner = {};  // the layer or metric that took it first; in the function's own frame only
  };

  TraceFrame* outer = nullptr;
  uint64_t id = new_object_id();
  std::shared_ptr<graph::Graph> graph;
  Facts facts;
  bool has_learned = false;  // facts beside those of its beginning
  std::vector<Tensor> arguments;
  std::vector<Capture> captures;
  std::unordered_map<const detail::TensorImpl*, size_t> capture_of;  // by the tensor
  std::vector<UsedVariable> variables;
  std::unordered_map<const VariableState*, size_t> variable_number;

  Tensor wrap(graph::Value* value) const;
  // Equalities learned late hold from the start: every check is verified before its graph runs. Regions inside know what their graph knows.
  void simplify_shapes() const;
  void add_argument(TensorSpec spec) { arguments.push_back(wrap(graph->add_input(std::move(spec)))); }
};

}  // namespace anyshape::function_detail
