// Ops that write their own loops, and products with what follows them.
#include "lower/lowering.h"
#include "lower/whole_call.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <optional>

namespace anyshape::lower {

using graph::Node;

void Lowering::lower_whole(const PlannedKernel& planned) {
  const Node& root = *planned.roots[0];
  const Epilogue& epilogue = planned.epilogue;
  const GroupContext around = context();
  const std::string name(root.op->name);
  KernelWriter kernel{epilogue.roots.empty() ? name : fmt::format("{}_{}", name, epilogue.roots.back()->op->name)};
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
  Roots all = planned.roots;
  all.insert(all.end(), epilogue.roots.begin(), epilogue.roots.end());
  add_launch(kernel.finish(), all, indexed);
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
