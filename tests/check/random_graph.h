// Random graphs: programs of a few ops whose axes have a size at each of five calls, so that one trace must serve all five.
#pragma once
#include "check/corner_box.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace anyshape::check {

inline constexpr int graph_calls = 5;
using Axis = std::array<int64_t, graph_calls>;  // its size at each call
using Axes5 = std::vector<Axis>;

struct GraphNode {
  int op = 0;                    // an entry of the table of ops
  std::vector<int> inputs;       // values: arguments first, then results of nodes
  std::vector<int64_t> numbers;  // axes and other attributes
  Axes5 result;
};

struct RandomGraph {
  uint64_t seed = 0;
  std::vector<Axes5> arguments;
  std::vector<GraphNode> nodes;
  int output = 0;  // the value that the graph returns

  const Axes5& axes(int value) const;
};

RandomGraph draw_graph(uint64_t seed, int least_nodes = 3, int most_nodes = 40);

std::vector<Tensor> draw_arguments(const RandomGraph& graph, int call, Dtype dtype);

// A fault on purpose: what a node gives instead of its result.
using PlantedFault = std::function<Tensor(const GraphNode& node, const Tensor& result)>;

Tensor run_nodes(const RandomGraph& graph, std::span<const Tensor> arguments, const PlantedFault& fault = nullptr);  // the output

// The output, and the gradients of its sum (to which every argument is added, so that each has one). `run` computes the output.
using RunNodes = std::function<Tensor(std::span<const Tensor> arguments)>;
std::vector<Tensor> run_with_gradients(const RunNodes& run, std::span<const Tensor> arguments);
std::vector<Tensor> run_graph(const RandomGraph& graph, std::span<const Tensor> arguments, const PlantedFault& fault = nullptr);

// The smallest graph found that still fails: earlier outputs, nodes left out, results replaced by values of the same axes.
RandomGraph reduce_graph(RandomGraph graph, const std::function<bool(const RandomGraph&)>& fails);

std::string to_string(const RandomGraph& graph);  // a line per node, with sizes

}  // namespace anyshape::check
