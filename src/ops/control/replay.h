// A region computed again, op by op, where gradients need what stood inside it.
#pragma once
#include "graph/graph.h"

#include <unordered_map>

namespace anyshape {

class Replay {
 public:
  Replay(const graph::Graph& region, std::span<const Tensor> inputs);
  std::vector<Tensor> outputs() const;
  // The gradients of the inputs (undefined where nothing flows, or was not asked for) from those of the outputs (undefined ones count as
  // zeros; there may be fewer than outputs).
  std::vector<Tensor> pull_back(std::span<const Tensor> dys, std::span<const bool> needed) const;

 private:
  const graph::Graph& region_;
  std::unordered_map<const graph::Value*, Tensor> values_;
  std::unordered_map<const graph::Node*, std::pair<std::vector<Tensor>, Attrs>> runs_;  // outputs and attributes, with what was saved
};

// Conditions on flags, for spans of bool: std::vector<bool> has none.
class Flags {
 public:
  explicit Flags(size_t count) : flags_(new bool[count]()), count_(count) {}
  bool& operator[](size_t i) { return flags_[i]; }
  std::span<const bool> span() const { return {flags_.get(), count_}; }
  bool any() const;

 private:
  std::unique_ptr<bool[]> flags_;
  size_t count_;
};

}  // namespace anyshape
