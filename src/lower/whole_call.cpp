// Buffers and sizes of one node, as its own rule asks for them.
#include "lower/whole_call.h"

#include "graph/text.h"
#include "shape/dim_node.h"

#include <algorithm>

namespace anyshape::lower {

int32_t WholeCall::input(int k) {
  const graph::Value* const value = node_.inputs[static_cast<size_t>(k)];
  return kernel_.buffer(context_.find_buffer(value), value->spec.dtype, loop::Access::In);
}

int32_t WholeCall::output(int k) {
  const graph::Value* const value = node_.outputs[static_cast<size_t>(k)];
  return kernel_.buffer(context_.find_buffer(value), value->spec.dtype, loop::Access::InOut);
}

int32_t WholeCall::scratch(Dtype dtype, const Dim& count) {
  return kernel_.buffer(context_.new_temporary(dtype, count), dtype, loop::Access::InOut);
}

Dim WholeCall::stride(int k, int axis) {
  const graph::Value& value = *node_.inputs[static_cast<size_t>(k)];
  if (!value.strides.empty()) return value.strides[axis];
  Dim stride = 1;
  for (int inner = axis + 1; inner < value.spec.shape.rank(); ++inner) stride = stride * value.spec.shape[inner];
  return stride;
}

bool WholeCall::is_known_at_call(const Dim& dim) {
  bool known = true;
  for_each_symbol(dim, [&](const Symbol& symbol) {
    const auto is_it = [&](const Dim& size) { return as_symbol(size)->id == symbol.id; };
    known =
        known && std::ranges::none_of(program_.data_sizes, is_it, &DataSize::symbol) && std::ranges::none_of(program_.scan_sizes, is_it);
  });
  return known;
}

void WholeCall::decide(std::string_view stage, bool yes, std::string reason) {
  context_.decisions.push_back({stage, graph::label(node_), yes, std::move(reason)});
}

void WholeCall::use_library(LibraryWork work, std::vector<Scratch> scratch) {
  library_ = LibraryCall{.work = std::move(work), .inputs = {}, .outputs = {}, .scratch = {}};
  for (const graph::Value* input : node_.inputs) library_->inputs.push_back(context_.find_buffer(input));
  for (const graph::Value* output : node_.outputs) library_->outputs.push_back(context_.find_buffer(output));
  for (const Scratch& each : scratch) library_->scratch.push_back(context_.new_temporary(each.dtype, each.count));
}

void WholeCall::written(const Block& block) {
  if (epilogue_ != nullptr) epilogue_->write(block);
}

}  // namespace anyshape::lower
