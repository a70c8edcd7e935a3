// Kernels that walk the same rows and may run together on each of them, in clusters.
#pragma once
#include "lower/group.h"
#include "lower/row_space.h"

#include <limits>
#include <optional>

namespace anyshape::lower {

// A kernel as it comes: of the groups, as long as those keep it.
struct RowMember {
  const Roots& roots;
  const KernelReads& reads;
  std::optional<RowSpace> rows;  // of a reduction
  bool is_loop = false;
  InlineVector<size_t, 2> followers;  // members that must come later

  const graph::Node& first() const { return *roots[0]; }
  bool is_alias() const { return first().op->is_alias; }
  const Shape& shape() const { return first().outputs[0]->spec.shape; }
};

struct RowCluster {
  std::vector<size_t> members;  // ascending
  std::optional<RowSpace> rows;
  int ops = 0;
};

struct RowClusters {
  static constexpr size_t nobody = std::numeric_limits<size_t>::max();

  explicit RowClusters(const graph::Graph& graph) : maker(graph, nobody) {}
  std::vector<RowMember> members;                // one for each kernel
  std::vector<RowCluster> clusters;              // one for each member; those that have been joined to another are empty
  std::vector<size_t> cluster_of;                // by member
  graph::SlotTable<graph::Value, size_t> maker;  // of a value in memory: the member

  bool is_made_in(size_t cluster, const graph::Value* value) const;
  // In an order that keeps followers behind what they follow, and else the order of their first members.
  std::vector<size_t> in_order() const;
};

RowClusters find_row_clusters(const graph::Graph& graph, const Groups& groups, Decisions& decisions);

}  // namespace anyshape::lower
