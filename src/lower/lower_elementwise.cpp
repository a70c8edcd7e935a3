// Elementwise groups: one pass over the output, the outermost axis over the pool, the innermost in vector lanes.
#include "lower/axes.h"
#include "lower/lower_loops.h"

namespace anyshape::lower {
namespace {

using graph::Node;
using loop::Value;

// What a first writing of the body, on a kernel that is thrown away, tells about the loops to make.
struct DryRun {
  std::vector<AxisGroup> axes;
  std::vector<const Node*> indexed;
};

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
    result.axes = join_axes(space, index, elements.accesses(), kernel.b, [](int, int) { return true; });
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
  check_indices(kernel, dry.indexed, context);
  std::vector<int32_t> targets;
  for (const Node* root : roots) {
    const graph::Value* output = root->outputs[0];
    targets.push_back(kernel.buffer(context.find_buffer(output), output->spec.dtype, loop::Access::Out));
  }
  std::vector<Value> index(space.rank(), b.integer(0));
  auto write = [&](Value offset) {
    for (size_t i = 0; i < roots.size(); ++i) b.store(targets[i], offset, elements.compute(roots[i]->outputs[0], index));
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
