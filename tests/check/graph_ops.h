// The ops that random graphs are made of: how to choose their inputs, what axes they give, how to run them.
#pragma once
#include "check/random_graph.h"

#include <optional>
#include <span>

namespace anyshape::check {

class GraphDraft {
 public:
  GraphDraft(Random& random, const std::vector<Axes5>& values) : random(random), values(values) {}
  Random& random;
  const std::vector<Axes5>& values;

  int any_value();  // recent ones more often
  std::optional<int> value_of_rank(int least, int most = 8);
  std::optional<int> partner(int value, bool (*fits)(const Axes5&, const Axes5&));
};

struct GraphOp {
  std::string name;
  std::optional<GraphNode> (*draw)(GraphDraft& draft);
  Tensor (*run)(std::span<const Tensor> in, const std::vector<int64_t>& numbers);
};

const std::vector<GraphOp>& graph_ops();
std::vector<GraphOp> control_graph_ops();  // those of them that branch or loop
std::vector<GraphOp> data_graph_ops();     // those with data-dependent sizes

}  // namespace anyshape::check
