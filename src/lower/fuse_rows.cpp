// Clusters of kernels that walk the same rows become kernels over rows; what only they read leaves memory.
#include "lower/fuse_rows.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/row_clusters.h"
#include "ops/element_cost.h"

#include <algorithm>
#include <utility>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

class Fuser {
 public:
  Fuser(const Graph& graph, Groups& groups, Decisions& decisions)
      : graph_(graph), groups_(groups), decisions_(decisions), found_(find_row_clusters(groups, decisions)) {}

  void run() {
    const std::vector<size_t> order = found_.in_order();
    const auto is_alone = [&](size_t cluster) { return found_.clusters[cluster].members.size() == 1; };
    std::vector<PlannedKernel> rows(found_.clusters.size());
    for (const size_t cluster : order) {
      if (!is_alone(cluster)) rows[cluster] = make_rows(cluster);
    }
    std::vector<PlannedKernel> kernels;
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
    kernel.reads.drop([&](const Value* value) { return found_.is_made_in(cluster, value); });
    keep_inside(cluster, kernel.roots);
    return kernel;
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
    std::unordered_set<const Value*> outside(graph_.outputs.begin(), graph_.outputs.end());
    std::unordered_set<const Value*> inside;
    for (size_t number = 0; number < found_.members.size(); ++number) {
      std::unordered_set<const Value*>& read_there = found_.cluster_of[number] == cluster ? inside : outside;
      for (const MemoryRead& read : found_.members[number].reads.reads) read_there.insert(read.value);
      read_there.insert(found_.members[number].reads.whole.begin(), found_.members[number].reads.whole.end());
    }
    for (const Node* root : roots) {  // what nobody reads is there only if dead code is left alone, and then it is computed
      if (!inside.contains(root->outputs[0])) outside.insert(root->outputs[0]);
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
    if (!rows.is_full(value->spec.shape) || std::ranges::find(graph_.outputs, value) != graph_.outputs.end()) return;
    const auto needs_whole = [&](const RowMember& member) {
      return std::ranges::find(member.reads.whole, value) != member.reads.whole.end();
    };
    if (std::ranges::any_of(found_.members, needs_whole)) return;
    for (size_t number = 0; number < found_.members.size(); ++number) {
      if (found_.cluster_of[number] != cluster && reads_rows_of_another_length(number, rows, value)) return;
    }
    outside.erase(value);
    Ingredients found;
    find_ingredients(cluster, value, outside, found);
    if (found.cost > cheap || found.full.size() != 1) {
      outside.insert(value);
      return;
    }
    outside.insert(found.per_row.begin(), found.per_row.end());
    decisions_.push_back({"fuse_rows", graph::label(*value->node), true, "its readers compute it again from what the row has in memory"});
  }

  // Whether the value is one that a row kernel walks along other rows than these: it counts on what stands in memory.
  bool reads_rows_of_another_length(size_t number, const RowSpace& rows, const Value* value) const {
    const RowCluster& reader = found_.clusters[found_.cluster_of[number]];
    if (!reader.rows || reader.rows->same_as(rows)) return false;
    const std::vector<MemoryRead>& reads = found_.members[number].reads.reads;
    return std::ranges::find(reads, value, &MemoryRead::value) != reads.end();
  }

  // What a value is computed from: of its own kernel what a row has as a whole, else what is in memory.
  struct Ingredients {
    int cost = 0;
    std::unordered_set<const Value*> full, per_row;
  };
  static constexpr int cheap = 4;
  void find_ingredients(size_t cluster, const Value* value, const std::unordered_set<const Value*>& outside, Ingredients& found) const {
    if (found.cost > cheap) return;  // decided; and the ways through a graph are more than its nodes
    const RowSpace& rows = *found_.clusters[cluster].rows;
    const auto made = found_.maker.find(value);
    const bool is_inside = made != found_.maker.end() ? found_.cluster_of[made->second] == cluster : value->node != nullptr;
    const bool is_full = rows.is_full(value->spec.shape);
    if (!is_inside || outside.contains(value)) {
      if (is_full) found.full.insert(value);
    } else if (!is_full && made != found_.maker.end()) {
      found.per_row.insert(value);
    } else {
      found.cost += value->node->op->element != nullptr ? element_cost(*value->node) : cheap + 1;
      for (const Value* input : value->node->inputs) find_ingredients(cluster, input, outside, found);
    }
  }

  const Graph& graph_;
  Groups& groups_;
  Decisions& decisions_;
  const RowClusters found_;
};

}  // namespace

void fuse_rows(const Graph& graph, Groups& groups, Decisions& decisions) {
  if (is_switched_off("fuse_rows")) return;
  const auto reduces = [](const PlannedKernel& kernel) { return row_space_of(*kernel.roots[0]).has_value(); };
  if (std::ranges::any_of(groups.kernels, reduces)) Fuser(graph, groups, decisions).run();
}

}  // namespace anyshape::lower
