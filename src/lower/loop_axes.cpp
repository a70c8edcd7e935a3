// Loop bodies written to see what they read.
#include "lower/loop_axes.h"

#include <algorithm>

namespace anyshape::lower {

using graph::Node;
using loop::Value;

namespace {

// Where every reading of a buffer is of the very element that the loop writes, a result may be written over it.
std::set<int> read_at_own_index(const Shape& space, std::span<const Value> index, const Elements& elements, const GroupContext& context) {
  std::set<int> own, elsewhere;
  for (const ElementAccess& access : elements.accesses()) {
    const bool is_own = access.row_major && std::ranges::equal(access.index, index) && access.shape.same_as(space);
    if (access.value != nullptr) (is_own ? own : elsewhere).insert(context.find_buffer(access.value));
  }
  for (const Node* node : elements.indexed_nodes()) elsewhere.insert(context.find_buffer(node->inputs.back()));  // by the check, too
  std::erase_if(own, [&](int buffer) { return elsewhere.contains(buffer); });
  return own;
}

}  // namespace

std::vector<Target> targets_of(const Roots& roots, const GroupContext& context, KernelWriter& kernel) {
  std::vector<Target> targets;
  for (size_t i = 0; i < roots.size(); ++i) {
    const graph::Value* output = roots[i]->outputs[0];
    const Dtype dtype = output->spec.dtype;
    if (!context.groups.only_placed.contains(output))
      targets.push_back({i, kernel.buffer(context.find_buffer(output), dtype, loop::Access::Out)});
    const auto placed = context.groups.places.find(output);
    if (placed == context.groups.places.end()) continue;
    for (const Place& place : placed->second)
      targets.push_back({i, kernel.buffer(context.find_buffer(place.whole), dtype, loop::Access::InOut), &place});
  }
  return targets;
}

std::vector<Value> index_at(const Place& place, std::vector<Value> index, KernelWriter& kernel) {
  const auto axis = static_cast<size_t>(place.axis);
  index[axis] = kernel.b.add(index[axis], kernel.size(place.begin));
  return index;
}

LoopAxes find_axes(const Roots& roots, const GroupContext& context, const std::function<bool(int, int)>& may_join) {
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  LoopAxes result;
  nest_loops(kernel, space, [&](const std::vector<Value>& index) {
    elements.enter_body({});
    for (const Node* root : roots) elements.compute(root->outputs[0], index);
    std::vector<ElementAccess> accesses = elements.accesses();
    for (const Node* root : roots) {
      const auto placed = context.groups.places.find(root->outputs[0]);
      if (placed == context.groups.places.end()) continue;
      for (const Place& place : placed->second) accesses.push_back({place.whole->spec.shape, index_at(place, index, kernel)});
    }
    result.axes = join_axes(space, index, accesses, kernel.b, may_join);
    result.own = read_at_own_index(space, index, elements, context);
  });
  result.indexed = elements.indexed_nodes();
  return result;
}

std::vector<Dim> open_sizes(const Roots& roots, const GroupContext& context, const AxisGroup& axis) {
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  kernel.b.serial_for(kernel.b.integer(0), kernel.size(axis.extent), [&](Value i) {
    std::vector<Value> index(roots[0]->outputs[0]->spec.shape.rank(), kernel.b.integer(0));
    index[axis.last] = i;
    elements.enter_body(i);
    for (const Node* root : roots) elements.compute(root->outputs[0], index);
  });
  return elements.open_inner_sizes();
}

}  // namespace anyshape::lower
