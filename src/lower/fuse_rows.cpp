// Kernels are joined in pairs of clusters, in order: where all of both walk the same rows, read of each other what belongs to the row they
// are at, and nothing outside needs the one before the other.
#include "lower/fuse_rows.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/kernel_reads.h"
#include "lower/row_space.h"
#include "ops/element_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// Beyond this many ops, compile time grows and a row has left the cache before its last pass.
constexpr int most_ops = 96;

// A kernel as it comes.
struct Member {
  const Roots& roots;
  const KernelReads& reads;
  std::optional<RowSpace> rows;  // of a reduction
  bool is_loop = false;
  std::vector<size_t> followers;  // members that must come later

  const Node& first() const { return *roots[0]; }
  bool is_alias() const { return first().op->is_alias; }
  const Shape& shape() const { return first().outputs[0]->spec.shape; }
};

struct Cluster {
  std::vector<size_t> members;  // ascending
  std::optional<RowSpace> rows;
  int ops = 0;
};

class Fuser {
 public:
  Fuser(const Graph& graph, Groups& groups, Decisions& decisions) : graph_(graph), groups_(groups), decisions_(decisions) {
    for (const PlannedKernel& kernel : groups.kernels) add_member(kernel);
  }

  void run() {
    for (size_t member = 0; member < members_.size(); ++member) {
      for (const size_t other : neighbours(member)) join(member, other);
    }
    finish();
  }

 private:
  void add_member(const PlannedKernel& kernel) {
    const size_t number = members_.size();
    const Node& first = *kernel.roots[0];
    Member& member = members_.emplace_back(Member{kernel.roots, kernel.reads, row_space_of(first), is_loop(first), {}});
    const auto follow = [&](const Value* read) {
      if (const auto made = maker_.find(read); made != maker_.end()) members_[made->second].followers.push_back(number);
    };
    for (const MemoryRead& read : member.reads.reads) follow(read.value);
    for (const Value* read : member.reads.whole) follow(read);
    // A size is found there: nothing moves to the other side.
    if (barrier_) members_[*barrier_].followers.push_back(number);
    if (first.made) {
      for (size_t before = 0; before < number; ++before) members_[before].followers.push_back(number);
      barrier_ = number;
    }
    for (const Node* root : kernel.roots) {
      for (const Value* output : root->outputs) maker_[output] = number;
    }
    clusters_.push_back({{number}, member.rows, static_cast<int>(member.reads.ops.size())});
    cluster_of_.push_back(number);
  }

  // Members whose cluster may be worth joining: makers of what is read, and those that read the same elements.
  std::vector<size_t> neighbours(size_t number) {
    const Member& member = members_[number];
    std::vector<size_t> found;
    const auto add = [&](const Value* value) {
      if (const auto made = maker_.find(value); made != maker_.end() && made->second < number) found.push_back(made->second);
    };
    if (member.is_alias()) add(member.first().inputs[0]);
    for (const MemoryRead& read : member.reads.reads) {
      add(read.value);
      if (!read.is_in_order()) continue;
      const auto [reader, is_first] = reader_.try_emplace(read.value, number);
      if (!is_first) found.push_back(std::exchange(reader->second, number));
    }
    return found;
  }

  void join(size_t a, size_t b) {
    const size_t from = cluster_of_[a], into = cluster_of_[b];
    if (from == into) return;
    Cluster &later = clusters_[from], &earlier = clusters_[into];
    const std::optional<RowSpace> rows = earlier.rows ? earlier.rows : later.rows;
    if (!rows || (later.rows && !later.rows->same_as(*rows))) return;  // nothing to do with rows, or with others
    std::vector<size_t> both = earlier.members;
    both.insert(both.end(), later.members.begin(), later.members.end());
    std::ranges::sort(both);
    if (!std::ranges::all_of(both, [&](size_t member) { return belongs(members_[member], *rows); })) return;
    const std::string obstacle = find_obstacle(both, *rows, earlier.ops + later.ops, into, from);
    decide(a, obstacle.empty(), obstacle.empty() ? fmt::format("it walks the rows of {}", name_of(b)) : obstacle);
    if (!obstacle.empty()) return;
    for (const size_t member : later.members) cluster_of_[member] = into;
    earlier = {std::move(both), rows, earlier.ops + later.ops};
    later.members.clear();
  }

  // Whether a kernel's results are values of rows, or of the elements of rows that are walked as one axis.
  static bool belongs(const Member& member, const RowSpace& rows) {
    if (member.is_alias()) return rows.is_per_row(member.shape()) && rows.is_per_row(member.first().inputs[0]->spec.shape);
    if (member.is_loop && rows.is_per_row(member.shape())) return true;
    if (std::ranges::all_of(member.roots, [&](const Node* root) { return rows.combines_rows(*root); })) {
      return joins(member, 1, rows.row_rank) && joins(member, rows.row_rank + 1, rows.space.rank());
    }
    if (!(member.is_loop && rows.is_full(member.shape())) && !(member.rows && member.rows->same_as(rows))) return false;
    return joins(member, rows.row_rank + 1, rows.space.rank());
  }
  static bool joins(const Member& member, int begin, int end) {
    for (int axis = begin; axis < end; ++axis) {
      if (!member.reads.joins[static_cast<size_t>(axis)]) return false;
    }
    return true;
  }

  std::string find_obstacle(const std::vector<size_t>& members, const RowSpace& rows, int ops, size_t into, size_t from) {
    if (ops > most_ops) return fmt::format("together they are more than {} ops", most_ops);
    const auto is_inside = [&](const Value* value) {
      const auto made = maker_.find(value);
      return made != maker_.end() && std::ranges::binary_search(members, made->second);
    };
    for (const size_t number : members) {
      const Member& member = members_[number];
      for (const MemoryRead& read : member.reads.reads) {
        if (is_inside(read.value) && (rows.combines_rows(*read.value->node) || !is_own(read, member, rows)))
          return fmt::format("it reads %{} of other rows, too", read.value->id);
      }
      if (member.is_alias()) continue;
      for (const Value* value : member.reads.whole) {
        if (is_inside(value)) return fmt::format("it needs the whole of %{} first", value->id);
      }
    }
    if (has_path_around(into, from)) return "what it reads needs the results of the others";
    return "";
  }

  // Whether what is read belongs to the element, or the row, that the kernel is at.
  static bool is_own(const MemoryRead& read, const Member& member, const RowSpace& rows) {
    const Shape& shape = read.value->spec.shape;
    if (rows.is_full(shape)) return read.is_in_order();
    if (!rows.is_per_row(shape) || !read.is_in_order(static_cast<size_t>(rows.row_rank))) return false;
    const bool per_row = member.is_loop && rows.is_per_row(member.shape());
    for (size_t axis = static_cast<size_t>(rows.row_rank); axis < read.axes.size(); ++axis) {
      if (read.axes[axis] != MemoryRead::at_zero && !(per_row && read.axes[axis] == static_cast<int>(axis))) return false;
    }
    return true;
  }

  // Whether something else comes after one of the two clusters and before one of them.
  bool has_path_around(size_t one, size_t other) const {
    std::vector<bool> seen(clusters_.size(), false);
    std::vector<size_t> open;
    const auto leave = [&](size_t cluster) {
      for (const size_t member : clusters_[cluster].members) {
        for (const size_t follower : members_[member].followers) {
          const size_t next = cluster_of_[follower];
          if (next == cluster || seen[next]) continue;
          seen[next] = true;
          open.push_back(next);
        }
      }
    };
    leave(one);
    leave(other);
    seen[one] = seen[other] = false;
    std::erase_if(open, [&](size_t cluster) { return cluster == one || cluster == other; });
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      leave(next);
      if (seen[one] || seen[other]) return true;
    }
    return false;
  }

  void finish() {
    const std::vector<size_t> order = in_order();
    const auto is_alone = [&](size_t cluster) { return clusters_[cluster].members.size() == 1; };
    std::vector<PlannedKernel> rows(clusters_.size());
    for (const size_t cluster : order) {
      if (!is_alone(cluster)) rows[cluster] = make_rows(cluster);
    }
    std::vector<PlannedKernel> kernels;
    for (const size_t cluster : order)
      kernels.push_back(std::move(is_alone(cluster) ? groups_.kernels[clusters_[cluster].members[0]] : rows[cluster]));
    groups_.kernels = std::move(kernels);
    for (PlannedKernel& kernel : groups_.kernels) read_ingredients(kernel);
  }

  PlannedKernel make_rows(size_t cluster) {
    PlannedKernel kernel;
    kernel.kind = KernelKind::Rows;
    for (const size_t number : clusters_[cluster].members) {
      const Member& member = members_[number];
      kernel.roots.insert(kernel.roots.end(), member.roots.begin(), member.roots.end());
      kernel.reads.add(member.reads);
    }
    kernel.reads.drop([&](const Value* value) {
      const auto made = maker_.find(value);
      return made != maker_.end() && cluster_of_[made->second] == cluster;
    });
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

  // Clusters in an order that keeps followers behind what they follow, and else the order of their first members.
  std::vector<size_t> in_order() const {
    std::vector<size_t> waiting_for(clusters_.size(), 0);
    const auto for_followers = [&](size_t cluster, const auto& visit) {
      for (const size_t member : clusters_[cluster].members) {
        for (const size_t follower : members_[member].followers) {
          if (cluster_of_[follower] != cluster) visit(cluster_of_[follower]);
        }
      }
    };
    for (size_t cluster = 0; cluster < clusters_.size(); ++cluster) for_followers(cluster, [&](size_t next) { ++waiting_for[next]; });
    std::set<std::pair<size_t, size_t>> ready;  // by first member
    const auto add = [&](size_t cluster) { ready.insert({clusters_[cluster].members[0], cluster}); };
    for (size_t cluster = 0; cluster < clusters_.size(); ++cluster) {
      if (!clusters_[cluster].members.empty() && waiting_for[cluster] == 0) add(cluster);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t cluster = ready.begin()->second;
      ready.erase(ready.begin());
      order.push_back(cluster);
      for_followers(cluster, [&](size_t next) {
        if (--waiting_for[next] == 0) add(next);
      });
    }
    return order;
  }

  // What only its own cluster reads stays out of memory. Another name of a value is memory where the value is.
  void keep_inside(size_t cluster, Roots& roots) {
    std::unordered_set<const Value*> outside(graph_.outputs.begin(), graph_.outputs.end());
    std::unordered_set<const Value*> inside;
    for (size_t number = 0; number < members_.size(); ++number) {
      std::unordered_set<const Value*>& read_there = cluster_of_[number] == cluster ? inside : outside;
      for (const MemoryRead& read : members_[number].reads.reads) read_there.insert(read.value);
      read_there.insert(members_[number].reads.whole.begin(), members_[number].reads.whole.end());
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
    const RowSpace& rows = *clusters_[cluster].rows;
    if (!rows.is_full(value->spec.shape) || std::ranges::find(graph_.outputs, value) != graph_.outputs.end()) return;
    const auto needs_whole = [&](const Member& member) { return std::ranges::find(member.reads.whole, value) != member.reads.whole.end(); };
    if (std::ranges::any_of(members_, needs_whole)) return;
    for (size_t number = 0; number < members_.size(); ++number) {
      if (cluster_of_[number] != cluster && reads_rows_of_another_length(number, rows, value)) return;
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
    const Cluster& reader = clusters_[cluster_of_[number]];
    if (!reader.rows || reader.rows->same_as(rows)) return false;
    const std::vector<MemoryRead>& reads = members_[number].reads.reads;
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
    const RowSpace& rows = *clusters_[cluster].rows;
    const auto made = maker_.find(value);
    const bool is_inside = made != maker_.end() ? cluster_of_[made->second] == cluster : value->node != nullptr;
    const bool is_full = rows.is_full(value->spec.shape);
    if (!is_inside || outside.contains(value)) {
      if (is_full) found.full.insert(value);
    } else if (!is_full && made != maker_.end()) {
      found.per_row.insert(value);
    } else {
      found.cost += value->node->op->element != nullptr ? element_cost(*value->node) : cheap + 1;
      for (const Value* input : value->node->inputs) find_ingredients(cluster, input, outside, found);
    }
  }

  std::string name_of(size_t member) const { return graph::label(members_[member].first()); }
  void decide(size_t member, bool yes, std::string reason) { decisions_.push_back({"fuse_rows", name_of(member), yes, std::move(reason)}); }

  const Graph& graph_;
  Groups& groups_;
  Decisions& decisions_;
  std::vector<Member> members_;
  std::vector<Cluster> clusters_;                    // one for each member; those that have been joined to another are empty
  std::vector<size_t> cluster_of_;                   // by member
  std::optional<size_t> barrier_;                    // the last member that makes a size
  std::unordered_map<const Value*, size_t> maker_;   // of a value in memory
  std::unordered_map<const Value*, size_t> reader_;  // the last member that reads it element by element
};

}  // namespace

void fuse_rows(const Graph& graph, Groups& groups, Decisions& decisions) {
  if (is_switched_off("fuse_rows")) return;
  const auto reduces = [](const PlannedKernel& kernel) { return row_space_of(*kernel.roots[0]).has_value(); };
  if (std::ranges::any_of(groups.kernels, reduces)) Fuser(graph, groups, decisions).run();
}

}  // namespace anyshape::lower
