// Where a kernel comes from: the part of a training step it belongs to, and the layers it computes. explain() tells it.
#pragma once
#include "graph/graph.h"
#include "graph/slot_table.h"
#include "lower/update.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace anyshape::lower {

enum class Phase : uint8_t { Forward, Gradient, Update };

struct Origin {
  Phase phase = Phase::Forward;
  std::vector<std::string> owners = {};  // paths of layers, "loss mse", "metric accuracy"; of an update the variables
};

// Gradients say so at their ops. An update is what only the next values of variables need and no layer, loss or metric called: an optimizer's
// work, or a user's by hand.
class Origins {
 public:
  // Ops of a region of which nothing is known come from where the region's op does, `around`.
  Origins(const graph::Graph& graph, std::span<const Update> updates, Origin around);

  Origin of(std::span<const graph::Node* const> nodes) const;  // of one kernel: the phase of most of its nodes

 private:
  Phase phase_of(const graph::Node& node) const;
  std::vector<std::string> updated_by(std::span<const graph::Node* const> nodes) const;

  const Origin around_;
  graph::SlotSet<graph::Node> needed_;           // by something that is no update
  graph::SlotTable<graph::Value, int> updates_;  // per value that is the next one of a variable: the graph input that is the old one
  graph::SlotTable<graph::Value, const graph::Node*> readers_;  // per graph input: the first layer, loss or metric that reads it
  const std::vector<graph::Value*>& inputs_;
};

}  // namespace anyshape::lower
