// From what a kernel reads to the loops around its body.
#include "lower/loop_axes.h"

#include "shape/prove.h"

namespace anyshape::lower {

using graph::Node;
using loop::Value;

namespace {

// Where every reading of a buffer is of the very element that the loop writes, a result may be written over it.
std::set<int> read_at_own_index(const Shape& space, const KernelReads& found, const GroupContext& context) {
  std::set<int> own, elsewhere;
  for (const MemoryRead& read : found.reads) {
    const bool is_row_major = read.value->strides.empty() || read.value->joined;
    (is_row_major && read.is_at_own_index(space) ? own : elsewhere).insert(context.find_buffer(read.value));
  }
  for (const graph::Value* value : found.whole) elsewhere.insert(context.find_buffer(value));
  std::erase_if(own, [&](int buffer) { return elsewhere.contains(buffer); });
  return own;
}

// Whether what stands in a larger value goes on there from the axis before without a gap.
bool goes_on(const PartOf& part, const Shape& space, int axis) {
  return part.begin.same_as(0) && proves_equal(part.whole->spec.shape[axis], space[axis]).value_or(false);
}

}  // namespace

std::vector<Target> targets_of(const Roots& roots, const GroupContext& context, KernelWriter& kernel) {
  std::vector<Target> targets;
  for (size_t i = 0; i < roots.size(); ++i) {
    const graph::Value* output = roots[i]->outputs[0];
    const Dtype dtype = output->spec.dtype;
    if (!context.groups.only_parts.contains(output))
      targets.push_back({i, kernel.buffer(context.find_buffer(output), dtype, loop::Access::Out)});
    const auto found = context.groups.parts_of.find(output);
    if (found == context.groups.parts_of.end()) continue;
    for (const PartOf& part : found->second)
      targets.push_back({i, kernel.buffer(context.find_buffer(part.whole), dtype, loop::Access::InOut), &part});
  }
  return targets;
}

std::vector<Value> index_at(const PartOf& part, std::vector<Value> index, KernelWriter& kernel) {
  const auto axis = static_cast<size_t>(part.axis);
  index[axis] = kernel.b.add(index[axis], kernel.size(part.begin));
  return index;
}

LoopAxes find_axes(const Roots& roots, const KernelReads& reads, const GroupContext& context,
                   const std::function<bool(int, int)>& may_join) {
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  std::vector<bool> joins = reads.joins;
  for (const Node* root : roots) {
    const auto found = context.groups.parts_of.find(root->outputs[0]);
    if (found == context.groups.parts_of.end()) continue;
    for (const PartOf& part : found->second) {
      for (int axis = 1; axis < space.rank(); ++axis) {
        if (!goes_on(part, space, axis)) joins[static_cast<size_t>(axis)] = false;
      }
    }
  }
  return {join_axes(space, joins, may_join), reads.indexed, read_at_own_index(space, reads, context)};
}

}  // namespace anyshape::lower
