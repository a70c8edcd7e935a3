// A dry run of a kernel's body, on a kernel that is thrown away.
#include "lower/kernel_reads.h"

#include "lower/axes.h"
#include "lower/elements.h"
#include "lower/group.h"
#include "lower/known_reads.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Node;
using graph::Value;

// Ops of the loops that end in `node`.
void walk(const Node& node, const Groups& groups, KernelReads& found) {
  if (node.op->kind == OpKind::Source || !found.add_op(&node)) return;
  for (const Value* input : node.inputs) {
    if (input->node != nullptr && !groups.in_memory.contains(input)) walk(*input->node, groups, found);
  }
}

void dry_run(const Node& root, const Groups& groups, KernelReads& found) {
  const Shape& space = space_of(root);
  KernelWriter kernel("dry_run");
  Elements elements(kernel, groups, [](const Value* value) { return value->id; }, [](const Node*) { return 0; });
  nest_loops(kernel, space, [&](const std::vector<loop::Value>& index) {
    elements.enter_body({});
    if (root.op->reduce != nullptr) {
      elements.element(root.inputs[0], index);
    } else {
      elements.compute(root.outputs[0], index);
    }
    found.joins = find_joins(space, index, elements.accesses(), kernel.b);
    const auto axis_of = [&](loop::Value at) {
      if (const auto known = std::ranges::find(index, at); known != index.end()) return static_cast<int>(known - index.begin());
      return at == kernel.b.integer(0) ? MemoryRead::at_zero : MemoryRead::elsewhere;
    };
    for (const ElementAccess& access : elements.accesses()) {
      if (access.value == nullptr) continue;
      MemoryRead& read = found.reads.emplace_back(MemoryRead{access.value, {}});
      for (const loop::Value at : access.index) read.axes.push_back(axis_of(at));
    }
    for (const Elements::OpenIndex& open : elements.open_sizes()) {
      if (const int axis = axis_of(open.index); axis >= 0) found.add_open({axis, open.size});
    }
  });
  found.indexed = elements.indexed_nodes();
  for (const Node* node : found.indexed) add_checked(*node, found);
}

}  // namespace

void add_checked(const Node& indexed, KernelReads& found) {
  found.whole.push_back(indexed.inputs.back());
  if (indexed.op->splits == nullptr) return;
  const std::vector<TensorSpec> specs = graph::input_specs(indexed);
  const int equal_to = indexed.op->splits(OpCall(*indexed.op, specs, indexed.attrs)).equal_to;
  if (equal_to >= 0) found.whole.push_back(indexed.inputs[static_cast<size_t>(equal_to)]);
}

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

const Shape& space_of(const Node& root) { return root.op->reduce != nullptr ? root.inputs[0]->spec.shape : root.outputs[0]->spec.shape; }

void KernelReads::add(const KernelReads& other) {
  reads.insert(reads.end(), other.reads.begin(), other.reads.end());
  whole.append(other.whole.begin(), other.whole.end());
  for (const Node* node : other.indexed) {
    if (std::ranges::find(indexed, node) == indexed.end()) indexed.push_back(node);
  }
  for (const Node* node : other.ops) add_op(node);
  for (size_t axis = 0; axis < joins.size(); ++axis) joins[axis] = joins[axis] && other.joins[axis];
  for (const OpenSize& size : other.open) add_open(size);
}

bool KernelReads::add_op(const Node* node) {
  if (std::ranges::find(ops, node) != ops.end()) return false;
  ops.push_back(node);
  return true;
}

void KernelReads::add_open(const OpenSize& size) {
  const auto is_known = [&](const OpenSize& known) { return known.axis == size.axis && known.size.same_as(size.size); };
  if (std::ranges::none_of(open, is_known)) open.push_back(size);
}

std::vector<Dim> KernelReads::open_sizes(int axis) const {
  std::vector<Dim> sizes;
  for (const OpenSize& each : open) {
    if (each.axis == axis) sizes.push_back(each.size);
  }
  return sizes;
}

void KernelReads::drop(const std::function<bool(const Value*)>& is_made) {
  std::erase_if(reads, [&](const MemoryRead& read) { return is_made(read.value); });
  whole.erase(std::remove_if(whole.begin(), whole.end(), is_made), whole.end());
}

bool KernelReads::any_of(const std::function<bool(const Value*)>& is) const {
  return std::ranges::any_of(reads, is, &MemoryRead::value) || std::ranges::any_of(whole, is);
}

KernelReads find_reads(const Node& root, const Groups& groups) {
  KernelReads found;
  if (!is_loop(root) && root.op->reduce == nullptr) {
    found.whole.assign(root.inputs.begin(), root.inputs.end());
    found.ops = {&root};
    return found;
  }
  walk(root, groups, found);
  KernelKey key(groups.known_reads->sizes, groups);
  key.add(root);
  if (groups.known_reads->find(key, found)) return found;
  dry_run(root, groups, found);
  groups.known_reads->add(std::move(key), found);
  return found;
}

KernelReads find_reads(const Roots& roots, const Groups& groups) {
  KernelReads found = find_reads(*roots[0], groups);
  for (size_t i = 1; i < roots.size(); ++i) found.add(find_reads(*roots[i], groups));
  found.drop([&](const Value* value) { return std::ranges::find(roots, value->node) != roots.end(); });
  return found;
}

}  // namespace anyshape::lower
