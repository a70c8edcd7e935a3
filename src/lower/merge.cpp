// A root joins an earlier kernel when all it reads is there before that kernel, or is what the kernel has just computed at the same index.
#include "lower/merge.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/kernel_reads.h"
#include "lower/row_space.h"
#include "shape/dim_node.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>

namespace anyshape::lower {
namespace {

const Switch merges_loops("merge", "loops over the same elements are one");

using graph::Graph;
using graph::Node;
using graph::Value;

constexpr size_t nowhere = std::numeric_limits<size_t>::max();

// How the loops of a root walk: over the elements of which shape, and of a reduction, which axes it combines. Roots that walk in the same way may be
// one kernel; those of other kinds never are.
class Walks {
 public:
  static constexpr int none = -1;

  int of(const Node& root) {
    Walk walk{.space = space_of(root), .fates = {}, .is_loop = is_loop(root)};
    if (!walk.is_loop) {
      if (root.op->reduce == nullptr || row_space_of(root)) return none;  // those along rows are for fuse_rows, which finds more to share
      walk.fates = fates_of(root);
      if (std::ranges::find(walk.fates, AxisFate::Open) != walk.fates.end()) return none;
    }
    size_t hash = walk.fates.size();
    for (const Dim& size : walk.space) hash = hash * 31 + hash_of(size);
    std::vector<int>& alike = by_hash_[hash];
    const auto is_same = [&](int known) {
      const Walk& other = walks_[static_cast<size_t>(known)];
      return other.is_loop == walk.is_loop && other.fates == walk.fates && other.space.same_as(walk.space);
    };
    if (const auto known = std::ranges::find_if(alike, is_same); known != alike.end()) return *known;
    alike.push_back(static_cast<int>(walks_.size()));
    walks_.push_back(std::move(walk));
    return alike.back();
  }

 private:
  struct Walk {
    Shape space;
    std::vector<AxisFate> fates;  // of a reduction
    bool is_loop;
  };
  std::vector<Walk> walks_;
  std::unordered_map<size_t, std::vector<int>> by_hash_;
};

// A value in memory that a kernel reads: at the index of the loop, or elsewhere.
struct Read {
  const Value* value;
  bool is_own_index;
};

// Kernels that walk in one way and read one value in one way; of numbers, which need not share anything, all that make some.
struct Sharing {
  int walk;
  const Value* value = nullptr;
  bool is_own_index = false;
  bool operator==(const Sharing&) const = default;
};
using Kernels = InlineVector<size_t, 2>;
struct SharingHash {
  size_t operator()(const Sharing& key) const {
    return std::hash<const Value*>{}(key.value) * 31 + static_cast<size_t>(key.walk) * 2 + (key.is_own_index ? 1 : 0);
  }
};

std::vector<Read> read_by(const Node& root, const KernelReads& found) {
  std::vector<Read> reads;
  reads.reserve(found.reads.size() + found.whole.size());
  for (const MemoryRead& read : found.reads) reads.push_back({read.value, read.is_at_own_index(space_of(root))});
  for (const Value* value : found.whole) reads.push_back({value, false});
  return reads;
}

class Merger {
 public:
  Merger(const Graph& graph, const graph::SlotTable<Node, int>& ops_inside, Groups& groups, Decisions& decisions)
      : graph_(graph), ops_inside_(ops_inside), groups_(groups), decisions_(decisions), kernel_of_(graph, nowhere) {}

  void add(const Node& root) {
    KernelReads found = find_reads(root, groups_);
    const std::vector<Read> reads = read_by(root, found);
    const int walk = merges_ ? walks_.of(root) : Walks::none;
    const size_t kernel = walk != Walks::none ? home_of(root, walk, reads) : kernels_.size();
    if (kernel == kernels_.size()) {
      kernels_.emplace_back().planned.reads = std::move(found);
    } else {
      decide(root, "walks the elements of " + graph::label(kernels_[kernel].first()));
      kernels_[kernel].planned.reads.add(found);
    }
    Kernel& joined = kernels_[kernel];
    joined.planned.roots.push_back(&root);
    joined.reads.insert(joined.reads.end(), reads.begin(), reads.end());
    joined.ops += ops_inside_.at(&root);
    joined.is_loop = is_loop(root);
    joined.walk = walk;
    if (walk != Walks::none) note_sharing(root, walk, reads, kernel);
    for (const Value* output : root.outputs) kernel_of_[output] = kernel;
    if (root.made) first_open_ = kernels_.size();  // a data-dependent size gets its number there: nothing moves to before it
  }

  void finish() {
    keep_inside();
    for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      PlannedKernel& planned = groups_.kernels.emplace_back(std::move(kernels_[kernel].planned));
      planned.reads.drop([&](const Value* value) { return kernel_of_.at(value) == kernel; });
    }
  }

 private:
  struct Kernel {
    PlannedKernel planned;
    std::vector<Read> reads;
    int ops = 0;
    int walk = Walks::none;
    bool is_loop = false;

    const Node& first() const { return *planned.roots[0]; }
  };

  // The latest kernel that the root can be part of; the number of kernels if there is none.
  size_t home_of(const Node& root, int walk, const std::vector<Read>& reads) const {
    size_t earliest = first_open_;  // where everything that is read is there
    for (const Read& read : reads) {
      const size_t made = kernel_of_.at(read.value);
      if (made == nowhere) continue;
      const bool may_join = read.is_own_index && kernels_[made].is_loop;
      earliest = std::max(earliest, made + (may_join ? 0 : 1));
    }
    const int ops = ops_inside_.at(&root);
    std::optional<size_t> home;
    const auto consider = [&](size_t kernel) {  // whether there is no need to look at earlier ones
      if (kernel < earliest || (home && kernel <= *home)) return true;
      if (kernels_[kernel].walk != walk || kernels_[kernel].ops + ops > largest_group) return false;
      home = kernel;
      return true;
    };
    const auto consider_all = [&](const Sharing& sharing) {
      const auto found = sharing_.find(sharing);
      if (found == sharing_.end()) return;
      for (const size_t kernel : std::views::reverse(found->second)) {
        if (consider(kernel)) return;
      }
    };
    const bool loops = is_loop(root);
    if (loops && space_of(root).rank() == 0) {  // a number costs less than a kernel
      consider_all({walk});
      return home.value_or(kernels_.size());
    }
    for (const Read& read : reads) {
      if (!read.is_own_index && !loops) continue;
      if (const size_t made = kernel_of_.at(read.value); read.is_own_index && made != nowhere) consider(made);
      // The same elements, or others of a value that both walk through, such as the gates of one product.
      consider_all({walk, read.value, read.is_own_index});
    }
    return home.value_or(kernels_.size());
  }

  void note_sharing(const Node& root, int walk, const std::vector<Read>& reads, size_t kernel) {
    const auto note = [&](const Sharing& sharing) {
      Kernels& kernels = sharing_[sharing];
      auto* const found = std::ranges::lower_bound(kernels, kernel);
      if (found != kernels.end() && *found == kernel) return;
      const auto before = found - kernels.begin();
      kernels.push_back(kernel);
      std::rotate(kernels.begin() + before, kernels.end() - 1, kernels.end());
    };
    if (is_loop(root) && space_of(root).rank() == 0) return note({walk});
    for (const Read& read : reads) note({walk, read.value, read.is_own_index});
  }

  // What only its own kernel reads stays out of memory.
  void keep_inside() {
    graph::SlotSet<Value> outside(graph_, graph_.outputs), inside(graph_);
    for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      for (const Read& read : kernels_[kernel].reads) {
        const size_t made = kernel_of_.at(read.value);
        if (made != nowhere) (made == kernel ? inside : outside).insert(read.value);
      }
    }
    for (Kernel& kernel : kernels_) {
      std::erase_if(kernel.planned.roots, [&](const Node* root) {
        const Value* const output = root->outputs[0];
        if (!inside.contains(output) || outside.contains(output)) return false;
        groups_.in_memory.erase(output);
        decide(*root, "no other kernel reads it");
        return true;
      });
    }
  }

  void decide(const Node& root, std::string reason) const { decisions_.push_back({"merge", graph::label(root), true, std::move(reason)}); }

  const Graph& graph_;
  const graph::SlotTable<Node, int>& ops_inside_;
  Groups& groups_;
  Decisions& decisions_;
  std::vector<Kernel> kernels_;
  graph::SlotTable<Value, size_t> kernel_of_;
  Walks walks_;
  std::unordered_map<Sharing, Kernels, SharingHash> sharing_;  // kernels in order
  size_t first_open_ = 0;
  const bool merges_ = !merges_loops.is_off();
};

}  // namespace

void merge(const Graph& graph, const Roots& roots, const graph::SlotTable<Node, int>& ops_inside, Groups& groups, Decisions& decisions) {
  Merger merger(graph, ops_inside, groups, decisions);
  for (const Node* root : roots) merger.add(*root);
  merger.finish();
}

}  // namespace anyshape::lower
