// Ops that write their own loops or leave their work to the library, and products with what follows them.
#include "lower/lowering.h"
#include "lower/whole_call.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <optional>

namespace anyshape::lower {

using graph::Node;

namespace {

// What the kernel computes, and what follows it.
Roots all_roots(const PlannedKernel& planned) {
  Roots all = planned.roots;
  all.insert(all.end(), planned.epilogue.roots.begin(), planned.epilogue.roots.end());
  return all;
}

// Of the last axis, in all that is around it.
Dim rows_of(const Shape& shape) {
  Dim rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows = rows * shape[axis];
  return rows;
}

}  // namespace

void Lowering::lower_whole(const PlannedKernel& planned) {
  const Node& root = *planned.roots[0];
  const Epilogue& epilogue = planned.epilogue;
  // A kernel that says its op's number tells no other op's failures.
  const bool may_be_known = epilogue.roots.empty() && !root.op->checks_data() && root.made == nullptr;
  const std::optional<KernelKey> key = may_be_known ? std::optional(key_of(planned)) : std::nullopt;
  if (std::optional<Launch> known = key ? written_before(*key, planned) : std::nullopt)
    return add_launch(std::move(*known), nodes_of(planned.roots), {});
  const KnownGroups::Before before = before_writing();
  const GroupContext around = context();
  std::string name(root.op->name);
  if (!epilogue.roots.empty()) name += fmt::format("_{}", epilogue.roots.back()->op->name);
  KernelWriter kernel{name};
  std::optional<EpilogueWriter> after;
  if (!epilogue.roots.empty()) after.emplace(kernel, *root.outputs[0], epilogue, around);
  std::vector<const Node*> indexed = epilogue.reads.indexed;
  if (root.op->checks_data()) indexed.push_back(&root);
  check_indices(kernel, indexed, around);
  const std::vector<TensorSpec> inputs = graph::input_specs(root);
  std::vector<TensorSpec> outputs;
  for (const graph::Value* output : root.outputs) outputs.push_back(output->spec);
  const OpCall op_call(*root.op, inputs, root.attrs);
  WholeCall call(program_, around, kernel, root, op_call, outputs);
  if (after) call.follow(*after);
  root.op->lower(call);
  if (call.library()) return add_library_call(std::move(*call.library()), planned, name, indexed);
  Launch launch = kernel.finish();
  if (key && !call.has_told_number()) keep_written(*key, planned, launch, before);
  add_launch(std::move(launch), nodes_of(all_roots(planned)), indexed);
}

// What is checked is checked by a kernel of its own, before anything is read.
void Lowering::add_library_call(LibraryCall call, const PlannedKernel& planned, const std::string& name,
                                std::span<const Node* const> indexed) {
  if (!indexed.empty()) {
    KernelWriter kernel{"check_" + name};
    check_indices(kernel, indexed, context());
    add_launch(kernel.finish(), indexed, indexed);
  }
  tell(call.ops, call.origin, nodes_of(all_roots(planned)));
  for (const std::vector<int>* buffers : {&call.inputs, &call.outputs, &call.scratch}) {
    for (const int buffer : *buffers) touch(buffer);
  }
  if (!planned.epilogue.roots.empty()) call.epilogue = add_epilogue(planned, name);
  add_item(LibraryItem{static_cast<int>(program_.library_calls.size())});
  program_.library_calls.push_back(std::move(call));
}

// A kernel by itself, which the library call that follows runs on its blocks.
int Lowering::add_epilogue(const PlannedKernel& planned, const std::string& name) {
  const graph::Value& product = *planned.roots[0]->outputs[0];
  const Shape& shape = product.spec.shape;
  KernelWriter kernel{name};
  const LowerCall::Block block{kernel.bound("first_row", 0), kernel.bound("end_row", rows_of(shape)), kernel.bound("first_column", 0),
                               kernel.bound("end_column", shape[-1])};
  // Read where the product has written it; a result that is written over it is stored there.
  const bool is_written_over = planned.epilogue.written_over != nullptr;
  kernel.buffer(buffer_of(&product), product.spec.dtype, is_written_over ? loop::Access::InOut : loop::Access::In);
  EpilogueWriter(kernel, product, planned.epilogue, context()).write(block);
  Launch launch = kernel.finish();
  launch.kernel = shared_.kernels.known(std::move(launch.kernel));
  tell(launch.ops, launch.origin, nodes_of(planned.epilogue.roots));
  for (const int buffer : launch.buffers) touch(buffer);
  program_.launches.push_back(std::move(launch));
  return static_cast<int>(program_.launches.size()) - 1;
}

// A product and what follows it. Where a result is written over the product's, both have one buffer.
void Lowering::lower_product(const PlannedKernel& planned) {
  const Node& product = *planned.roots[0];
  const Epilogue& epilogue = planned.epilogue;
  for (const Node* root : epilogue.roots) buffers_[root->outputs[0]] = temporary_for(*root->outputs[0]);
  const graph::Value* const result = product.outputs[0];
  buffers_[result] = epilogue.written_over != nullptr ? buffer_of(epilogue.written_over) : temporary_for(*result);
  for (const Node* alias : epilogue.aliases) buffers_[alias->outputs[0]] = buffer_of(alias->inputs[0]);
  lower_whole(planned);
}

// The last launch leaves the size in memory.
void Lowering::add_data_size(const Node& node) {
  if (block_ != 0) throw InternalError(fmt::format("lower: {} makes a size inside a region", node.op->name));
  DataSize& size = program_.data_sizes.emplace_back(
      DataSize{node.made->symbol, node.made->bound, buffer_of(node.outputs.back()), static_cast<int>(block_ref().items.size()) - 1, {}});
  for (const graph::Check& check : graph_.checks) {
    if (check.after == &node) size.checks.push_back(check);
  }
}

}  // namespace anyshape::lower
