// Drawing, running, reducing and printing random graphs.
#include "check/random_graph.h"

#include "check/graph_ops.h"

#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::check {
namespace {

constexpr int64_t most_elements = 600;

bool is_small(const Axes5& axes) {
  if (axes.size() > 4) return false;
  for (int call = 0; call < graph_calls; ++call) {
    int64_t count = 1;
    for (const Axis& axis : axes) count *= axis[static_cast<size_t>(call)];
    if (count > most_elements) return false;
  }
  return true;
}

// A few axes that all arguments share, and others that are 1 at some calls and one of those at the rest: unknown broadcasting.
std::vector<Axis> draw_axes(Random& random) {
  std::vector<Axis> pool(3);
  for (Axis& axis : pool) {
    for (int64_t& size : axis) size = random.pick(std::vector<int64_t>{0, 1, 2, 3, 3, 5, 8, 9});
  }
  pool.push_back({1, 1, 1, 1, 1});
  Axis sometimes = pool[static_cast<size_t>(random.below(3))];
  for (int64_t& size : sometimes) size = random.chance(40) ? 1 : size;
  pool.push_back(sometimes);
  return pool;
}

void keep_needed(RandomGraph& graph) {
  const int arguments = static_cast<int>(graph.arguments.size());
  std::vector<bool> needed(graph.arguments.size() + graph.nodes.size(), false);
  needed[static_cast<size_t>(graph.output)] = true;
  for (size_t k = graph.nodes.size(); k-- > 0;) {
    if (!needed[static_cast<size_t>(arguments) + k]) continue;
    for (const int input : graph.nodes[k].inputs) needed[static_cast<size_t>(input)] = true;
  }
  std::vector<int> renamed(needed.size());
  std::vector<Axes5> kept_arguments;
  std::vector<GraphNode> kept_nodes;
  int next = 0;
  for (size_t value = 0; value < needed.size(); ++value) {
    const bool is_argument = value < graph.arguments.size();
    renamed[value] = next;
    if (!needed[value]) continue;
    if (is_argument) kept_arguments.push_back(graph.arguments[value]);
    if (!is_argument) {
      kept_nodes.push_back(graph.nodes[value - graph.arguments.size()]);
      for (int& input : kept_nodes.back().inputs) input = renamed[static_cast<size_t>(input)];
    }
    ++next;
  }
  graph.output = renamed[static_cast<size_t>(graph.output)];
  graph.arguments = std::move(kept_arguments);
  graph.nodes = std::move(kept_nodes);
}

// Graphs that are a little smaller, the boldest ones first.
std::vector<RandomGraph> smaller(const RandomGraph& graph) {
  std::vector<RandomGraph> candidates;
  const int arguments = static_cast<int>(graph.arguments.size());
  for (int value = arguments; value < graph.output; ++value) {
    candidates.push_back(graph);
    candidates.back().output = value;
  }
  for (int value = arguments; value < arguments + static_cast<int>(graph.nodes.size()); ++value) {
    for (int other = 0; other < value; ++other) {
      if (graph.axes(other) != graph.axes(value)) continue;
      candidates.push_back(graph);
      for (GraphNode& node : candidates.back().nodes) std::ranges::replace(node.inputs, value, other);
      if (graph.output == value) candidates.back().output = other;
    }
    // The result becomes an argument of its own: what made it is not to blame.
    candidates.push_back(graph);
    RandomGraph& cut = candidates.back();
    for (GraphNode& node : cut.nodes) {
      for (int& input : node.inputs) input = input == value ? arguments : input >= arguments ? input + 1 : input;
    }
    cut.output = cut.output == value ? arguments : cut.output + 1;
    cut.arguments.push_back(graph.axes(value));
  }
  for (RandomGraph& candidate : candidates) keep_needed(candidate);
  return candidates;
}

std::string to_text(const Axes5& axes) {
  std::vector<std::string> calls;
  for (size_t call = 0; call < graph_calls; ++call) {
    Sizes sizes;
    for (const Axis& axis : axes) sizes.push_back(axis[call]);
    calls.push_back(to_string(sizes));
  }
  return fmt::format("{}", fmt::join(calls, " "));
}

}  // namespace

const Axes5& RandomGraph::axes(int value) const {
  const auto index = static_cast<size_t>(value);
  return index < arguments.size() ? arguments[index] : nodes[index - arguments.size()].result;
}

RandomGraph draw_graph(uint64_t seed, int least_nodes, int most_nodes) {
  Random random(seed * 7919 + 3);
  RandomGraph graph;
  graph.seed = seed;
  const std::vector<Axis> pool = draw_axes(random);
  for (int64_t count = random.between(1, 4); count > 0; --count) {
    Axes5 axes;
    for (int64_t rank = random.between(0, 3); rank > 0; --rank) axes.push_back(random.pick(pool));
    graph.arguments.push_back(axes);
  }
  std::vector<Axes5> values = graph.arguments;
  const auto wanted = static_cast<size_t>(random.between(least_nodes, most_nodes));
  for (int tries = 0; graph.nodes.size() < wanted && tries < 1000; ++tries) {
    const auto op = static_cast<size_t>(random.below(static_cast<int64_t>(graph_ops().size())));
    GraphDraft draft(random, values);
    std::optional<GraphNode> node = graph_ops()[op].draw(draft);
    if (!node || !is_small(node->result)) continue;
    node->op = static_cast<int>(op);
    values.push_back(node->result);
    graph.nodes.push_back(std::move(*node));
  }
  graph.output = static_cast<int>(values.size()) - 1;
  return graph;
}

std::vector<Tensor> draw_arguments(const RandomGraph& graph, int call, Dtype dtype) {
  Random random(graph.seed * 31 + static_cast<uint64_t>(call));
  std::vector<Tensor> arguments;
  for (const Axes5& axes : graph.arguments) {
    Sizes sizes;
    for (const Axis& axis : axes) sizes.push_back(axis[static_cast<size_t>(call)]);
    arguments.push_back(
        draw_tensor(random, dtype, sizes, {.low = -2, .high = 2, .zeros = true, .infinities = false, .nan = false, .extremes = false}));
  }
  return arguments;
}

Tensor run_nodes(const RandomGraph& graph, std::span<const Tensor> arguments, const PlantedFault& fault) {
  std::vector<Tensor> values(arguments.begin(), arguments.end());
  for (const GraphNode& node : graph.nodes) {
    std::vector<Tensor> inputs;
    for (const int input : node.inputs) inputs.push_back(values[static_cast<size_t>(input)]);
    values.push_back(graph_ops()[static_cast<size_t>(node.op)].run(inputs, node.numbers));
    if (fault) values.back() = fault(node, values.back());
  }
  return values[static_cast<size_t>(graph.output)];
}

std::vector<Tensor> run_with_gradients(const RunNodes& run, std::span<const Tensor> arguments) {
  GradientTape tape;
  for (const Tensor& argument : arguments) tape.watch(argument);
  const Tensor output = run(arguments);
  Tensor total = sum(output);
  for (const Tensor& argument : arguments) total = total + sum(argument);
  std::vector<Tensor> results = tape.gradient(total, std::vector<Tensor>(arguments.begin(), arguments.end()));
  results.insert(results.begin(), output);
  return results;
}

std::vector<Tensor> run_graph(const RandomGraph& graph, std::span<const Tensor> arguments, const PlantedFault& fault) {
  return run_with_gradients([&](std::span<const Tensor> in) { return run_nodes(graph, in, fault); }, arguments);
}

RandomGraph reduce_graph(RandomGraph graph, const std::function<bool(const RandomGraph&)>& fails) {
  keep_needed(graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (const RandomGraph& candidate : smaller(graph)) {
      if (candidate.nodes.size() >= graph.nodes.size() || !fails(candidate)) continue;
      graph = candidate;
      changed = true;
      break;
    }
  }
  return graph;
}

std::string to_string(const RandomGraph& graph) {
  std::string text = fmt::format("seed {}\n", graph.seed);
  for (size_t i = 0; i < graph.arguments.size(); ++i) text += fmt::format("  %{} argument: {}\n", i, to_text(graph.arguments[i]));
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    const GraphNode& node = graph.nodes[k];
    text += fmt::format("  %{} = {}(%{}) {}: {}\n", graph.arguments.size() + k, graph_ops()[static_cast<size_t>(node.op)].name,
                        fmt::join(node.inputs, ", %"), node.numbers, to_text(node.result));
  }
  return text + fmt::format("  return %{}\n", graph.output);
}

}  // namespace anyshape::check
