// Clusters of kernels that walk the same rows become kernels over rows; what only they read leaves memory.
#include "lower/fuse_rows.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/row_clusters.h"
#include "ops/element_cost.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace anyshape::lower {
namespace {

const Switch fuses_rows("fuse_rows", "reductions are computed with what they read and what reads them");

using graph::Graph;
using graph::Node;
using graph::Value;

class Fuser {
 public:
  Fuser(const Graph& graph, Groups& groups, Decisions& decisions)
      : groups_(groups),
        decisions_(decisions),
        found_(find_row_clusters(graph, groups, decisions)),
        results_(graph, graph.outputs),
        readers_(graph),
        read_whole_(graph) {
    for (size_t number = 0; number < found_.members.size(); ++number) {
      for (const MemoryRead& read : found_.members[number].reads.reads) readers_[read.value].push_back(number);
      for (const Value* value : found_.members[number].reads.whole) {
        readers_[value].push_back(number);
        read_whole_.insert(value);
      }
    }
  }

  void run() {
    const std::vector<size_t> order = found_.in_order();
    const auto is_alone = [&](size_t cluster) { return found_.clusters[cluster].members.size() == 1; };
    std::vector<PlannedKernel> rows(found_.clusters.size());
    for (const size_t cluster : order) {
      if (!is_alone(cluster)) rows[cluster] = make_rows(cluster);
    }
    std::vector<PlannedKernel> kernels;
    kernels.reserve(order.size());
    for (const size_t cluster : order)
      kernels.push_back(std::move(is_alone(cluster) ? groups_.kernels[found_.clusters[cluster].members[0]] : rows[cluster]));
    groups_.kernels = std::move(kernels);
    for (PlannedKernel& kernel : groups_.kernels) read_ingredients(kernel);
  }

 private:
  PlannedKernel make_rows(size_t cluster) {
    PlannedKernel kernel;
    kernel.kind = KernelKind::Rows;
    for (const size_t number : found_.clusters[cluster].members) {
      const RowMember& member = found_.members[number];
      kernel.roots.insert(kernel.roots.end(), member.roots.begin(), member.roots.end());
      kernel.reads.add(member.reads);
    }
    kernel.reads.joins = joins_of(cluster);
    kernel.reads.drop([&](const Value* value) { return found_.is_made_in(cluster, value); });
    keep_inside(cluster, kernel.roots);
    return kernel;
  }

  // Axes of rows are walked as one where all members read on from one to the next, those within a row where its elements are read so.
  std::vector<bool> joins_of(size_t cluster) const {
    const RowSpace& rows = *found_.clusters[cluster].rows;
    std::vector<bool> joins(static_cast<size_t>(rows.space.rank()), true);
    for (const size_t number : found_.clusters[cluster].members) {
      const RowMember& member = found_.members[number];
      if (member.is_alias()) continue;  // reads nothing
      const int walked = rows.is_full(space_of(member.first())) ? rows.space.rank() : rows.row_rank;
      for (auto axis = size_t{1}; axis < static_cast<size_t>(walked); ++axis) joins[axis] = joins[axis] && member.reads.joins[axis];
    }
    return joins;
  }

  // Who read a value that has left memory reads what it is computed from.
  void read_ingredients(PlannedKernel& kernel) const {
    std::vector<const Value*> left;
    kernel.reads.drop([&](const Value* value) {
      const bool has_left = value->node != nullptr && !groups_.in_memory.contains(value);
      if (has_left) left.push_back(value);
      return has_left;
    });
    if (left.empty()) return;
    if (kernel.kind == KernelKind::Single) {
      kernel.reads = find_reads(kernel.roots, groups_);
    } else {
      for (const Value* value : left) kernel.reads.add(find_reads(*value->node, groups_));
    }
  }

  // What only its own cluster reads stays out of memory. Another name of a value is memory where the value is.
  void keep_inside(size_t cluster, Roots& roots) {
    std::unordered_set<const Value*> outside;
    for (const Node* root : roots) {  // what nobody reads is there only if dead code is left alone, and then it is computed
      const Value* const output = root->outputs[0];
      const auto is_inside = [&](size_t reader) { return found_.cluster_of[reader] == cluster; };
      const std::span<const size_t> readers = readers_of(output);
      if (readers.empty() || results_.contains(output) || !std::ranges::all_of(readers, is_inside)) outside.insert(output);
    }
    for (const Node* root : roots) {
      if (outside.contains(root->outputs[0])) compute_again(cluster, root->outputs[0], outside);
    }
    for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
      const Value* const output = (*root)->outputs[0];
      if ((*root)->op->is_alias && outside.contains(output)) outside.insert((*root)->inputs[0]);
      if (!outside.contains(output)) groups_.in_memory.erase(output);
    }
    std::erase_if(roots, [&](const Node* root) { return !outside.contains(root->outputs[0]); });
  }

  // What costs next to nothing, once the one value it is made of has been read, is not worth the memory: normalised rows, of which the
  // gradients of scale and shift need the elements again, are the input, less the row's mean, by its deviation.
  void compute_again(size_t cluster, const Value* value, std::unordered_set<const Value*>& outside) {
    const RowSpace& rows = *found_.clusters[cluster].rows;
    if (!rows.is_full(value->spec.shape) || results_.contains(value) || read_whole_.contains(value)) return;
    for (const size_t reader : readers_of(value)) {
      if (found_.cluster_of[reader] != cluster && walks_rows_of_another_length(reader, rows)) return;
    }
    outside.erase(value);
    Ingredients found;
    find_ingredients(cluster, value, outside, found);
    if (found.cost > cheaper_than_reading || found.full.size() != 1) {
      outside.insert(value);
      return;
    }
    outside.insert(found.per_row.begin(), found.per_row.end());
    decisions_.push_back({"fuse_rows", graph::label(*value->node), true, "its readers compute it again from what the row has in memory"});
  }

  // Whether a reader is part of a row kernel that walks along other rows than these: it counts on what stands in memory.
  bool walks_rows_of_another_length(size_t member, const RowSpace& rows) const {
    const RowCluster& reader = found_.clusters[found_.cluster_of[member]];
    return reader.rows && !reader.rows->same_as(rows);
  }

  std::span<const size_t> readers_of(const Value* value) const { return readers_.at(value); }

  // What a value is computed from: of its own kernel what a row has as a whole, else what is in memory.
  struct Ingredients {
    int cost = 0;
    std::unordered_set<const Value*> full, per_row;
    std::unordered_map<const Value*, int> computed;  // what each costs with all it is made of: as often as it is met, but looked at once
  };
  void find_ingredients(size_t cluster, const Value* value, const std::unordered_set<const Value*>& outside, Ingredients& found) const {
    if (found.cost > cheaper_than_reading) return;  // decided
    if (const auto known = found.computed.find(value); known != found.computed.end()) {
      found.cost += known->second;
      return;
    }
    const RowSpace& rows = *found_.clusters[cluster].rows;
    const bool is_made = found_.maker.at(value) != RowClusters::nobody;
    const bool is_inside = is_made ? found_.is_made_in(cluster, value) : value->node != nullptr;
    const bool is_full = rows.is_full(value->spec.shape);
    if (!is_inside || outside.contains(value)) {
      if (is_full) found.full.insert(value);
    } else if (!is_full && is_made) {
      found.per_row.insert(value);
    } else {
      const int before = found.cost;
      found.cost += value->node->op->element != nullptr ? element_cost(*value->node) : cheaper_than_reading + 1;
      for (const Value* input : value->node->inputs) find_ingredients(cluster, input, outside, found);
      found.computed.emplace(value, found.cost - before);
    }
  }

  Groups& groups_;
  Decisions& decisions_;
  const RowClusters found_;
  const graph::SlotSet<Value> results_;                       // of the graph
  graph::SlotTable<Value, InlineVector<size_t, 2>> readers_;  // members, by what they read from memory
  graph::SlotSet<Value> read_whole_;
};

}  // namespace

void fuse_rows(const Graph& graph, Groups& groups, Decisions& decisions) {
  if (fuses_rows.is_off()) return;
  const auto reduces = [](const PlannedKernel& kernel) { return row_space_of(*kernel.roots[0]).has_value(); };
  if (std::ranges::any_of(groups.kernels, reduces)) Fuser(graph, groups, decisions).run();
}

}  // namespace anyshape::lower
