// A region computed again, op by op, where gradients need what stood inside it.
#pragma once
#include "graph/graph.h"

#include <functional>
#include <unordered_map>

namespace anyshape {

class Replay {
 public:
  using Known = std::unordered_map<const graph::Value*, Tensor>;
  // Asked before a node's gradient is computed; what it clears in `wanted` is not, it sees to that itself.
  using Takeover = std::function<void(const graph::Node& node, const GradientCall& call, std::span<bool> wanted)>;

  // A node whose outputs are all `known` is not computed again.
  Replay(const graph::Graph& region, std::span<const Tensor> inputs, const Known& known = {});
  std::vector<Tensor> outputs() const;
  // The gradients of the inputs (undefined where nothing flows, or was not asked for) from those of the outputs (undefined ones count as
  // zeros; there may be fewer than outputs).
  std::vector<Tensor> pull_back(std::span<const Tensor> dys, std::span<const bool> needed, const Takeover& take_over = {}) const;

 private:
  const graph::Graph& region_;
  Known values_;
  std::unordered_map<const graph::Node*, std::pair<std::vector<Tensor>, Attrs>> runs_;  // outputs and attributes, with what was saved
};

// Conditions on flags, for spans of bool: std::vector<bool> has none.
class Flags {
 public:
  explicit Flags(size_t count) : flags_(new bool[count]()), count_(count) {}
  bool& operator[](size_t i) { return flags_[i]; }
  std::span<const bool> span() const { return {flags_.get(), count_}; }
  std::span<bool> span() { return {flags_.get(), count_}; }
  bool any() const;

 private:
  std::unique_ptr<bool[]> flags_;
  size_t count_;
};

}  // namespace anyshape
