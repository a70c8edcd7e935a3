// A root joins an earlier kernel when all it reads is there before that kernel, or is what the kernel has just computed at the same index.
#include "lower/merge.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/kernel_reads.h"
#include "lower/row_space.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// A reduction whose loops can have several results. Those along rows are for fuse_rows, which finds more to share.
bool is_shareable(const Node& node) {
  if (node.op->reduce == nullptr || row_space_of(node)) return false;
  const std::vector<AxisFate> fates = fates_of(node);
  return std::ranges::find(fates, AxisFate::Open) == fates.end();
}
bool walk_alike(const Node& a, const Node& b) {
  return a.inputs[0]->spec.shape.same_as(b.inputs[0]->spec.shape) && fates_of(a) == fates_of(b);
}

// A value in memory that a kernel reads: at the index of the loop, or elsewhere.
struct Read {
  const Value* value;
  bool is_own_index;
};

std::vector<Read> read_by(const Node& root, const KernelReads& found) {
  std::vector<Read> reads;
  for (const MemoryRead& read : found.reads) reads.push_back({read.value, read.is_at_own_index(space_of(root))});
  for (const Value* value : found.whole) reads.push_back({value, false});
  return reads;
}

class Merger {
 public:
  Merger(const Graph& graph, const std::unordered_map<const Node*, int>& ops_inside, Groups& groups, Decisions& decisions)
      : graph_(graph), ops_inside_(ops_inside), groups_(groups), decisions_(decisions) {}

  void add(const Node& root) {
    KernelReads found = find_reads(root, groups_);
    const std::vector<Read> reads = read_by(root, found);
    const size_t kernel = merges_ && (is_loop(root) || is_shareable(root)) ? home_of(root, reads) : kernels_.size();
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
    for (const Value* output : root.outputs) kernel_of_[output] = kernel;
    if (root.made) first_open_ = kernels_.size();  // a size is found there: nothing moves to before it
  }

  void finish() {
    keep_inside();
    for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      PlannedKernel& planned = groups_.kernels.emplace_back(std::move(kernels_[kernel].planned));
      planned.reads.drop([&](const Value* value) {
        const auto made = kernel_of_.find(value);
        return made != kernel_of_.end() && made->second == kernel;
      });
    }
  }

 private:
  struct Kernel {
    PlannedKernel planned;
    std::vector<Read> reads;
    int ops = 0;
    bool is_loop = false;

    const Node& first() const { return *planned.roots[0]; }
  };

  // The latest kernel that the root can be part of; the number of kernels if there is none.
  size_t home_of(const Node& root, const std::vector<Read>& reads) const {
    size_t earliest = first_open_;  // where everything that is read is there
    for (const Read& read : reads) {
      const auto found = kernel_of_.find(read.value);
      if (found == kernel_of_.end()) continue;
      const bool may_join = read.is_own_index && kernels_[found->second].is_loop;
      earliest = std::max(earliest, found->second + (may_join ? 0 : 1));
    }
    for (size_t kernel = kernels_.size(); kernel-- > earliest;) {
      if (belongs(root, reads, kernels_[kernel], kernel)) return kernel;
    }
    return kernels_.size();
  }

  bool belongs(const Node& root, const std::vector<Read>& reads, const Kernel& kernel, size_t number) const {
    if (kernel.is_loop != is_loop(root) || kernel.ops + ops_inside_.at(&root) > largest_group) return false;
    if (kernel.is_loop) {
      const Shape& space = space_of(root);
      if (!space_of(kernel.first()).same_as(space)) return false;
      if (space.rank() == 0) return true;  // a number costs less than a kernel
    } else if (!is_shareable(kernel.first()) || !walk_alike(kernel.first(), root)) {
      return false;
    }
    return std::ranges::any_of(reads, [&](const Read& read) {
      const auto found = kernel_of_.find(read.value);
      if (!read.is_own_index && !kernel.is_loop) return false;
      if (read.is_own_index && found != kernel_of_.end() && found->second == number) return true;
      // The same elements, or others of a value that both walk through, such as the gates of one product.
      return std::ranges::any_of(kernel.reads,
                                 [&](const Read& other) { return other.value == read.value && other.is_own_index == read.is_own_index; });
    });
  }

  // What only its own kernel reads stays out of memory.
  void keep_inside() {
    std::unordered_set<const Value*> outside(graph_.outputs.begin(), graph_.outputs.end());
    std::unordered_set<const Value*> inside;
    for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      for (const Read& read : kernels_[kernel].reads) {
        const auto found = kernel_of_.find(read.value);
        if (found == kernel_of_.end()) continue;
        (found->second == kernel ? inside : outside).insert(read.value);
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
  const std::unordered_map<const Node*, int>& ops_inside_;
  Groups& groups_;
  Decisions& decisions_;
  std::vector<Kernel> kernels_;
  std::unordered_map<const Value*, size_t> kernel_of_;
  size_t first_open_ = 0;
  const bool merges_ = !is_switched_off("merge");
};

}  // namespace

void merge(const Graph& graph, const Roots& roots, const std::unordered_map<const Node*, int>& ops_inside, Groups& groups,
           Decisions& decisions) {
  Merger merger(graph, ops_inside, groups, decisions);
  for (const Node* root : roots) merger.add(*root);
  merger.finish();
}

}  // namespace anyshape::lower
