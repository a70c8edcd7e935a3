// What a kernel's reads tell about the loops to make around its body.
#pragma once
#include "lower/axes.h"
#include "lower/lower_loops.h"

#include <set>

namespace anyshape::lower {

// A store of what a root computes: at the index of the loop, or where it stands in a larger value.
struct Target {
  size_t root;
  int32_t buffer;
  const PartOf* part = nullptr;
};
std::vector<Target> targets_of(const Roots& roots, const GroupContext& context, KernelWriter& kernel);
std::vector<loop::Value> index_at(const PartOf& part, std::vector<loop::Value> index, KernelWriter& kernel);  // in the larger value

struct LoopAxes {
  std::vector<AxisGroup> axes;  // that are walked as one
  std::vector<const graph::Node*> indexed;
  std::set<int> own;  // buffers read at the loop's own index only
};

// Neighbouring axes a and a + 1 stay apart where `may_join` says no.
LoopAxes find_axes(const Roots& roots, const KernelReads& reads, const GroupContext& context,
                   const std::function<bool(int, int)>& may_join);

}  // namespace anyshape::lower
