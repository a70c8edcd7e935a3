// Rows of a block one by one, all columns of each alike. A result may be written over the product: all is computed before anything is stored.
#include "lower/lower_epilogue.h"

#include "ops/loops.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::lower {
namespace {

using loop::Value;

// The rows' axes, then all of a row as one; none where that cannot be.
std::vector<AxisGroup> find_rows(const graph::Value& product, const Roots& roots, const KernelReads& reads) {
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  const Dim& length = product.spec.shape[-1];
  int first = space.rank() - 1;  // of the axes that make up a row
  Dim inside = first < 0 ? Dim(1) : space[first];
  while (first > 0 && !inside.same_as(length)) inside = inside * space[--first];
  if (first < 0 || !inside.same_as(length)) return {};
  std::vector<AxisGroup> axes = join_axes(space, reads.joins, [&](int, int inner) { return inner != first; });
  return axes.back().first == first ? axes : std::vector<AxisGroup>{};
}

}  // namespace

bool can_follow(const graph::Value& product, const PlannedKernel& loop) { return !find_rows(product, loop.roots, loop.reads).empty(); }

EpilogueWriter::EpilogueWriter(KernelWriter& kernel, const graph::Value& product, const Epilogue& epilogue, const GroupContext& context)
    : kernel_(kernel),
      roots_(epilogue.roots),
      context_(context),
      elements_(kernel, context.groups, context.find_buffer, context.node_number),
      rows_(find_rows(product, epilogue.roots, epilogue.reads)) {
  if (rows_.empty()) throw InternalError(fmt::format("lower: %{} is followed by a loop along other rows", product.id));
  columns_ = rows_.back();
  rows_.pop_back();
  open_ = epilogue.reads.open_sizes(columns_.last);
}

void EpilogueWriter::write(const LowerCall::Block& block) {
  emit_versions(kernel_, open_, columns_.extent, [&](const std::vector<OpenChoice>& choices) { write_rows(block, choices); });
}

// Joined axes are walked by the index of their last one, as in elementwise groups.
void EpilogueWriter::write_rows(const LowerCall::Block& block, const std::vector<OpenChoice>& choices) {
  loop::Builder& b = kernel_.b;
  std::vector<Value> index(static_cast<size_t>(roots_[0]->outputs[0]->spec.shape.rank()), b.integer(0)), extents;
  for (const AxisGroup& axes : rows_) extents.push_back(kernel_.size(axes.extent));
  b.serial_for(block.first_row, block.end_row, [&](Value row) {
    const std::vector<Value> at = unravel(b, row, extents);
    for (size_t i = 0; i < rows_.size(); ++i) index[static_cast<size_t>(rows_[i].last)] = at[i];
    b.elements(block.first_column, block.end_column, [&](Value column) {
      index[static_cast<size_t>(columns_.last)] = column;
      elements_.enter_body(column, choices);
      write_element(index);
    });
  });
}

void EpilogueWriter::write_element(std::span<const Value> index) {
  std::vector<Value> results;
  for (const graph::Node* root : roots_) results.push_back(elements_.compute(root->outputs[0], index));
  const Value offset = elements_.offset(roots_[0]->outputs[0]->spec.shape, index);
  for (size_t i = 0; i < roots_.size(); ++i) {
    const graph::Value* const output = roots_[i]->outputs[0];
    kernel_.b.store(kernel_.buffer(context_.find_buffer(output), output->spec.dtype, loop::Access::Out), offset, results[i]);
  }
}

}  // namespace anyshape::lower
