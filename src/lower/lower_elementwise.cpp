// Elementwise groups: one pass over the output. The indices of the outermost axis are independent of each other, and the elements of the innermost.
#include "lower/loop_axes.h"

namespace anyshape::lower {

using graph::Node;
using loop::Value;

GroupKernel lower_elementwise(const PlannedKernel& planned, const GroupContext& context) {
  const Roots& roots = planned.roots;
  const LoopAxes found = find_axes(roots, planned.reads, context, [](int, int) { return true; });
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  KernelWriter kernel{std::string(roots[0]->op->name)};
  loop::Builder& b = kernel.b;
  Elements elements(kernel, context.groups, context.find_buffer, context.node_number);
  elements.read_at_own_index(found.own);
  check_indices(kernel, found.indexed, context);
  const std::vector<Target> targets = targets_of(roots, context, kernel);
  std::vector<Value> index(space.rank(), b.integer(0));
  // All is read before anything is written: see loop::Access::Own.
  auto write = [&](Value offset) {
    std::vector<Value> computed;
    for (const Node* root : roots) computed.push_back(elements.compute(root->outputs[0], index));
    for (const Target& target : targets) {
      const Value at =
          target.part == nullptr ? offset : elements.offset(target.part->whole->spec.shape, index_at(*target.part, index, kernel));
      b.store(target.buffer, at, computed[target.root]);
    }
  };

  // Joined axes are walked by the index of their last one; the others stay at 0, which row-major offsets take as the same element.
  auto innermost = [&](Value begin, Value end, const std::vector<OpenChoice>& choices) {
    b.elements(begin, end, [&](Value i) {
      index[found.axes.back().last] = i;
      elements.enter_body(i, choices);
      write(elements.offset(space, index));
    });
  };
  if (found.axes.empty()) {
    elements.enter_body({});
    write(b.integer(0));
    return {kernel.finish(), found.indexed};
  }

  const Dim inner = found.axes.back().extent;
  emit_versions(kernel, planned.reads.open_sizes(found.axes.back().last), inner, [&](const std::vector<OpenChoice>& choices) {
    if (found.axes.size() == 1) {
      b.ranges(kernel.parameter(inner), b.integer(1), loop::Walk::Once, [&](Value begin, Value end) { innermost(begin, end, choices); });
      return;
    }
    Dim row = 1;  // elements at one index of the outermost axis
    for (size_t i = 1; i < found.axes.size(); ++i) row = row * found.axes[i].extent;
    std::function<void(size_t)> nest = [&](size_t axis) {
      if (axis + 1 == found.axes.size()) return innermost(b.integer(0), kernel.size(inner), choices);
      b.serial_for(b.integer(0), kernel.size(found.axes[axis].extent), [&](Value i) {
        index[found.axes[axis].last] = i;
        nest(axis + 1);
      });
    };
    // Rows without elements are not walked: there may be 2^62 of them.
    const Value rows = b.select(b.equal(kernel.size(row), b.integer(0)), b.integer(0), kernel.size(found.axes[0].extent));
    b.each(b.integer(0), rows, kernel.size(row), [&](Value i) {
      index[found.axes[0].last] = i;
      nest(1);
    });
  });
  return {kernel.finish(), found.indexed};
}

}  // namespace anyshape::lower
