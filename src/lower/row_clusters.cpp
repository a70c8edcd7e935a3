// Clusters are joined in pairs, in order: where all of both walk the same rows, read of each other what belongs to the row they are at, and nothing
// outside needs the one before the other.
#include "lower/row_clusters.h"

#include "graph/text.h"
#include "lower/kernel_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace anyshape::lower {
namespace {

using graph::Node;
using graph::Value;

// Beyond this many ops, compile time grows and a row has left the cache before its last pass.
constexpr int most_ops = 96;

class Joiner {
 public:
  Joiner(const graph::Graph& graph, const Groups& groups, Decisions& decisions)
      : found_(graph),
        decisions_(decisions),
        order_(groups.kernels.size()),
        searched_(groups.kernels.size(), 0),
        reader_(graph, RowClusters::nobody) {
    for (const PlannedKernel& kernel : groups.kernels) add_member(kernel);
  }

  RowClusters run() {
    for (size_t member = 0; member < found_.members.size(); ++member) {
      for (const size_t other : neighbours(member)) join(member, other);
    }
    return std::move(found_);
  }

 private:
  void add_member(const PlannedKernel& kernel) {
    const size_t number = found_.members.size();
    const Node& first = *kernel.roots[0];
    RowMember& member = found_.members.emplace_back(RowMember{kernel.roots, kernel.reads, row_space_of(first), is_loop(first), {}});
    const auto follow = [&](const Value* read) {
      if (const size_t made = found_.maker.at(read); made != RowClusters::nobody) found_.members[made].followers.push_back(number);
    };
    for (const MemoryRead& read : member.reads.reads) follow(read.value);
    for (const Value* read : member.reads.whole) follow(read);
    // A data-dependent size gets its number there: nothing moves to the other side.
    if (barrier_) found_.members[*barrier_].followers.push_back(number);
    if (first.made) {
      for (size_t before = 0; before < number; ++before) found_.members[before].followers.push_back(number);
      barrier_ = number;
    }
    for (const Node* root : kernel.roots) {
      for (const Value* output : root->outputs) found_.maker[output] = number;
    }
    found_.clusters.push_back({{number}, member.rows, static_cast<int>(member.reads.ops.size())});
    found_.cluster_of.push_back(number);
  }

  // Members whose cluster may be worth joining: makers of what is read, and those that read the same elements.
  std::vector<size_t> neighbours(size_t number) {
    const RowMember& member = found_.members[number];
    std::vector<size_t> found;
    const auto add = [&](const Value* value) {
      if (const size_t made = found_.maker.at(value); made < number) found.push_back(made);
    };
    if (member.is_alias()) add(member.first().inputs[0]);
    for (const MemoryRead& read : member.reads.reads) {
      add(read.value);
      if (!read.is_in_order()) continue;
      const size_t reader = std::exchange(reader_[read.value], number);
      if (reader != RowClusters::nobody) found.push_back(reader);
    }
    return found;
  }

  void join(size_t a, size_t b) {
    const size_t from = found_.cluster_of[a], into = found_.cluster_of[b];
    if (from == into) return;
    RowCluster &later = found_.clusters[from], &earlier = found_.clusters[into];
    const std::optional<RowSpace> rows = earlier.rows ? earlier.rows : later.rows;
    if (!rows || (later.rows && !later.rows->same_as(*rows))) return;  // nothing to do with rows, or with others
    std::vector<size_t> both = earlier.members;
    both.insert(both.end(), later.members.begin(), later.members.end());
    std::ranges::sort(both);
    if (!std::ranges::all_of(both, [&](size_t member) { return belongs(found_.members[member], *rows); })) return;
    std::string obstacle = find_obstacle(both, *rows, earlier.ops + later.ops);
    Between between;
    if (obstacle.empty()) between = look_between(into, from), obstacle = between.obstacle;
    decide(a, obstacle.empty(), obstacle.empty() ? fmt::format("it walks the rows of {}", name_of(b)) : obstacle);
    if (!obstacle.empty()) return;
    put_together(into, from, std::move(between.needs_earlier));
    for (const size_t member : later.members) found_.cluster_of[member] = into;
    earlier = {std::move(both), rows, earlier.ops + later.ops};
    later.members.clear();
  }

  // Whether a kernel's results are values of rows, or of the elements of rows that are walked as one axis.
  static bool belongs(const RowMember& member, const RowSpace& rows) {
    if (member.is_alias()) return rows.is_per_row(member.shape()) && rows.is_per_row(member.first().inputs[0]->spec.shape);
    if (member.is_loop && rows.is_per_row(member.shape())) return true;
    if (std::ranges::all_of(member.roots, [&](const Node* root) { return rows.combines_rows(*root); })) {
      return joins(member, 1, rows.row_rank) && joins(member, rows.row_rank + 1, rows.space.rank());
    }
    if (!(member.is_loop && rows.is_full(member.shape())) && !(member.rows && member.rows->same_as(rows))) return false;
    return joins(member, rows.row_rank + 1, rows.space.rank());
  }
  static bool joins(const RowMember& member, int begin, int end) {
    for (int axis = begin; axis < end; ++axis) {
      if (!member.reads.joins[static_cast<size_t>(axis)]) return false;
    }
    return true;
  }

  std::string find_obstacle(const std::vector<size_t>& members, const RowSpace& rows, int ops) const {
    if (ops > most_ops) return fmt::format("together they are more than {} ops", most_ops);
    const auto is_inside = [&](const Value* value) { return std::ranges::binary_search(members, found_.maker.at(value)); };
    for (const size_t number : members) {
      const RowMember& member = found_.members[number];
      for (const MemoryRead& read : member.reads.reads) {
        if (is_inside(read.value) && (rows.combines_rows(*read.value->node) || !is_own(read, member, rows)))
          return fmt::format("it reads %{} of other rows, too", read.value->id);
      }
      for (const Value* value : member.reads.whole) {
        if (!is_inside(value) || (member.is_alias() && !rows.combines_rows(*value->node))) continue;  // else another name of a row's number
        return fmt::format("it needs the whole of %{} first", value->id);
      }
    }
    return "";
  }

  // Whether what is read belongs to the element, or the row, that the kernel is at.
  static bool is_own(const MemoryRead& read, const RowMember& member, const RowSpace& rows) {
    const Shape& shape = read.value->spec.shape;
    if (rows.is_full(shape)) return read.is_in_order();
    if (!rows.is_per_row(shape) || !read.is_in_order(static_cast<size_t>(rows.row_rank))) return false;
    const bool per_row = member.is_loop && rows.is_per_row(member.shape());
    for (size_t axis = static_cast<size_t>(rows.row_rank); axis < read.axes.size(); ++axis) {
      if (read.axes[axis] != MemoryRead::at_zero && !(per_row && read.axes[axis] == static_cast<int>(axis))) return false;
    }
    return true;
  }

  // What stands between the clusters and needs results of the earlier one: that comes behind both, once they are one.
  struct Between {
    std::vector<size_t> needs_earlier = {};
    std::string obstacle = {};  // something of it is needed by the later one, too
  };
  Between look_between(size_t one, size_t other) {
    constexpr size_t most = 4096;  // clusters looked at, so that a deep program does not take long
    const size_t first = order_.is_before(one, other) ? one : other, last = first == one ? other : one;
    Between found;
    ++search_;
    const auto reaches_last = [&](size_t cluster) {
      for (const size_t member : found_.clusters[cluster].members) {
        for (const size_t follower : found_.members[member].followers) {
          const size_t next = found_.cluster_of[follower];
          if (next == last && cluster != first) return true;
          if (next == cluster || searched_[next] == search_ || !order_.is_before(next, last)) continue;
          searched_[next] = search_;
          found.needs_earlier.push_back(next);
        }
      }
      return false;
    };
    bool is_reached = reaches_last(first);
    for (size_t next = 0; !is_reached && next < found.needs_earlier.size(); ++next) {
      if (next == most) return {.obstacle = "too much stands between them"};
      is_reached = reaches_last(found.needs_earlier[next]);
    }
    if (is_reached) return {.obstacle = "what it reads needs the results of the others"};
    return found;
  }

  // Where the later one stands; see look_between.
  void put_together(size_t into, size_t from, std::vector<size_t> needs_earlier) {
    const size_t last = order_.is_before(into, from) ? from : into;
    std::ranges::sort(needs_earlier, [&](size_t a, size_t b) { return order_.is_before(b, a); });
    for (const size_t cluster : needs_earlier) order_.move_behind(cluster, last);
    if (last == from) order_.move_behind(into, from);
    order_.remove(from);
  }

  std::string name_of(size_t member) const { return graph::label(found_.members[member].first()); }
  void decide(size_t member, bool yes, std::string reason) { decisions_.push_back({"fuse_rows", name_of(member), yes, std::move(reason)}); }

  RowClusters found_;
  Decisions& decisions_;
  KernelOrder order_;               // of clusters: each behind all that it follows
  std::vector<uint32_t> searched_;  // by cluster: the last search that met it
  uint32_t search_ = 0;
  std::optional<size_t> barrier_;           // the last member that makes a size
  graph::SlotTable<Value, size_t> reader_;  // the last member that reads it element by element
};

}  // namespace

bool RowClusters::is_made_in(size_t cluster, const Value* value) const {
  const size_t made = maker.at(value);
  return made != nobody && cluster_of[made] == cluster;
}

std::vector<size_t> RowClusters::in_order() const {
  std::vector<size_t> waiting_for(clusters.size(), 0);
  const auto for_followers = [&](size_t cluster, const auto& visit) {
    for (const size_t member : clusters[cluster].members) {
      for (const size_t follower : members[member].followers) {
        if (cluster_of[follower] != cluster) visit(cluster_of[follower]);
      }
    }
  };
  for (size_t cluster = 0; cluster < clusters.size(); ++cluster) for_followers(cluster, [&](size_t next) { ++waiting_for[next]; });
  std::set<std::pair<size_t, size_t>> ready;  // by first member
  const auto add = [&](size_t cluster) { ready.insert({clusters[cluster].members[0], cluster}); };
  for (size_t cluster = 0; cluster < clusters.size(); ++cluster) {
    if (!clusters[cluster].members.empty() && waiting_for[cluster] == 0) add(cluster);
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

RowClusters find_row_clusters(const graph::Graph& graph, const Groups& groups, Decisions& decisions) {
  return Joiner(graph, groups, decisions).run();
}

}  // namespace anyshape::lower
