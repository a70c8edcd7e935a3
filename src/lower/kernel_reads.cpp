// A dry run of a kernel's body, on a kernel that is thrown away.
#include "lower/kernel_reads.h"

#include "lower/axes.h"
#include "lower/elements.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Node;
using graph::Value;

// Ops of the loops that end in `node`, and what they need in memory before the loops begin.
void walk(const Node& node, const Groups& groups, KernelReads& found, std::unordered_set<const Node*>& seen) {
  if (!seen.insert(&node).second) return;
  if (node.op->kind != OpKind::Source) ++found.ops;
  if (node.op->checks_data()) found.whole.push_back(node.inputs.back());
  for (const Value* input : node.inputs) {
    if (input->node != nullptr && !groups.in_memory.contains(input)) walk(*input->node, groups, found, seen);
  }
}

void dry_run(const Roots& roots, const Groups& groups, KernelReads& found) {
  const bool reduces = roots[0]->op->reduce != nullptr;
  const Shape& space = reduces ? roots[0]->inputs[0]->spec.shape : roots[0]->outputs[0]->spec.shape;
  KernelWriter kernel("dry_run");
  Elements elements(kernel, groups, [](const Value* value) { return value->id; }, [](const Node*) { return 0; });
  nest_loops(kernel, space, [&](const std::vector<loop::Value>& index) {
    elements.enter_body({});
    for (const Node* root : roots) {
      if (reduces) {
        elements.element(root->inputs[0], index);
      } else {
        elements.compute(root->outputs[0], index);
      }
    }
    found.joins.assign(static_cast<size_t>(space.rank()), false);
    for (const AxisGroup& group : join_axes(space, index, elements.accesses(), kernel.b, [](int, int) { return true; })) {
      for (int joined = group.first + 1; joined <= group.last; ++joined) found.joins[static_cast<size_t>(joined)] = true;
    }
    const auto axis_of = [&](loop::Value at) {
      if (const auto known = std::ranges::find(index, at); known != index.end()) return static_cast<int>(known - index.begin());
      return at == kernel.b.integer(0) ? MemoryRead::at_zero : MemoryRead::elsewhere;
    };
    for (const ElementAccess& access : elements.accesses()) {
      if (access.value == nullptr) continue;
      MemoryRead& read = found.reads.emplace_back(MemoryRead{access.value, {}});
      for (const loop::Value at : access.index) read.axes.push_back(axis_of(at));
    }
  });
}

}  // namespace

bool is_loop(const Node& node) {
  const OpDef& op = *node.op;
  return op.element != nullptr && op.reduce == nullptr && op.lower == nullptr && !op.is_alias && op.kind != OpKind::Control;
}

bool MemoryRead::is_in_order(size_t count) const {
  for (size_t axis = 0; axis < count; ++axis) {
    if (axes[axis] != static_cast<int>(axis)) return false;
  }
  return true;
}

KernelReads find_reads(const Roots& roots, const Groups& groups) {
  KernelReads found;
  const Node& first = *roots[0];
  if (!is_loop(first) && first.op->reduce == nullptr) {
    found.whole.assign(first.inputs.begin(), first.inputs.end());
    found.ops = 1;
    return found;
  }
  std::unordered_set<const Node*> seen;
  for (const Node* root : roots) walk(*root, groups, found, seen);
  dry_run(roots, groups, found);
  return found;
}

}  // namespace anyshape::lower
