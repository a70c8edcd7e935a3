// Elementwise groups: one pass over the output, the outermost axis over the pool, the innermost in vector lanes.
#include "lower/axes.h"
#include "lower/lower_loops.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Node;
using loop::Value;

// What a first writing of the body, on a kernel that is thrown away, tells about the loops to make.
struct DryRun {
  std::vector<AxisGroup> axes;
  std::vector<const Node*> indexed;
  std::set<int> own;  // buffers read at the loop's own index only
};

// Where every reading of a buffer is of the very element that the loop writes, a result may be written over it.
std::set<int> read_at_own_index(const Shape& space, std::span<const Value> index, const Elements& elements, const GroupContext& context) {
  const auto is_same = [](const Dim& a, const Dim& b) { return a.same_as(b); };
  std::set<int> own, elsewhere;
  for (const ElementAccess& access : elements.accesses()) {
    const bool is_own = access.row_major && std::ranges::equal(access.index, index) && std::ranges::equal(access.shape, space, is_same);
    if (access.value != nullptr) (is_own ? own : elsewhere).insert(context.find_buffer(access.value));
  }
  for (const Node* node : elements.indexed_nodes()) elsewhere.insert(context.find_buffer(node->inputs.back()));  // by the check, too
  std::erase_if(own, [&](int buffer) { return elsewhere.contains(buffer); });
  return own;
}

// A store of what a root computes: at the index of the loop, or where it stands in a larger value.
struct Target {
  size_t root;
  int32_t buffer;
  const Place* place = nullptr;
};

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

DryRun dry_run(const Roots& roots, const GroupContext& context) {
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  std::vector<Value> index;
  DryRun result;
  std::function<void(int)> nest = [&](int axis) {
    if (axis < space.rank()) {
      kernel.b.serial_for(kernel.b.integer(0), kernel.size(space[axis]), [&](Value i) {
        index.push_back(i);
        nest(axis + 1);
      });
      return;
    }
    elements.enter_body({});
    for (const Node* root : roots) elements.compute(root->outputs[0], index);
    std::vector<ElementAccess> accesses = elements.accesses();
    for (const Target& target : targets_of(roots, context, kernel)) {
      if (target.place != nullptr) accesses.push_back({target.place->whole->spec.shape, index_at(*target.place, index, kernel)});
    }
    result.axes = join_axes(space, index, accesses, kernel.b, [](int, int) { return true; });
    result.own = read_at_own_index(space, index, elements, context);
  };
  nest(0);
  result.indexed = elements.indexed_nodes();
  return result;
}

// Sizes along the innermost joined axis that are 1 or not only at run time.
std::vector<Dim> open_sizes(const Roots& roots, const GroupContext& context, const std::vector<AxisGroup>& axes) {
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  kernel.b.serial_for(kernel.b.integer(0), kernel.size(axes.back().extent), [&](Value i) {
    std::vector<Value> index(roots[0]->outputs[0]->spec.shape.rank(), kernel.b.integer(0));
    index[axes.back().last] = i;
    elements.enter_body(i);
    for (const Node* root : roots) elements.compute(root->outputs[0], index);
  });
  return elements.open_inner_sizes();
}

}  // namespace

GroupKernel lower_elementwise(const Roots& roots, const GroupContext& context) {
  const DryRun dry = dry_run(roots, context);
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  KernelWriter kernel{std::string(roots[0]->op->name)};
  loop::Builder& b = kernel.b;
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  elements.read_at_own_index(dry.own);
  check_indices(kernel, dry.indexed, context);
  const std::vector<Target> targets = targets_of(roots, context, kernel);
  std::vector<Value> index(space.rank(), b.integer(0));
  // All is read before anything is written: see loop::Access::Own.
  auto write = [&](Value offset) {
    std::vector<Value> computed;
    for (const Node* root : roots) computed.push_back(elements.compute(root->outputs[0], index));
    for (const Target& target : targets) {
      const Value at =
          target.place == nullptr ? offset : elements.offset(target.place->whole->spec.shape, index_at(*target.place, index, kernel));
      b.store(target.buffer, at, computed[target.root]);
    }
  };

  // Joined axes are walked by the index of their last one; the others stay at 0, which row-major offsets take as the same element.
  auto innermost = [&](Value begin, Value end, const std::vector<OpenChoice>& choices) {
    b.vector_for(begin, end, [&](Value i) {
      index[dry.axes.back().last] = i;
      elements.enter_body(i, choices);
      write(elements.offset(space, index));
    });
  };
  if (dry.axes.empty()) {
    elements.enter_body({});
    write(b.integer(0));
    return {kernel.finish(), dry.indexed};
  }

  const Dim inner = dry.axes.back().extent;
  emit_versions(kernel, open_sizes(roots, context, dry.axes), inner, [&](const std::vector<OpenChoice>& choices) {
    if (dry.axes.size() == 1) {
      const Value end = kernel.parameter(inner);
      b.parallel_for(b.integer(0), b.ceil_divide(end, task_elements), b.integer(1), [&](Value task) {
        const Value begin = b.multiply(task, b.integer(task_elements));
        innermost(begin, b.minimum(b.add(begin, b.integer(task_elements)), end), choices);
      });
      return;
    }
    Dim row = 1;  // elements in one step of the outermost axis
    for (size_t i = 1; i < dry.axes.size(); ++i) row = row * dry.axes[i].extent;
    const Value grain = b.maximum(b.floor_divide(b.integer(task_elements), b.maximum(kernel.size(row), b.integer(1))), b.integer(1));
    std::function<void(size_t)> nest = [&](size_t axis) {
      if (axis + 1 == dry.axes.size()) return innermost(b.integer(0), kernel.size(inner), choices);
      b.serial_for(b.integer(0), kernel.size(dry.axes[axis].extent), [&](Value i) {
        index[dry.axes[axis].last] = i;
        nest(axis + 1);
      });
    };
    // Rows without elements are not walked: there may be 2^62 of them.
    const Value rows = b.select(b.equal(kernel.size(row), b.integer(0)), b.integer(0), kernel.size(dry.axes[0].extent));
    b.parallel_for(b.integer(0), rows, grain, [&](Value i) {
      index[dry.axes[0].last] = i;
      nest(1);
    });
  });
  return {kernel.finish(), dry.indexed};
}

}  // namespace anyshape::lower
