// Rows of a block one by one, columns in vector lanes. A result may be written over the product: all is computed before anything is stored.
#include "lower/lower_epilogue.h"

#include "ops/loops.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <optional>

namespace anyshape::lower {
namespace {

using loop::Value;

struct RowsAndColumns {
  std::vector<AxisGroup> rows;
  AxisGroup columns;
  std::vector<const graph::Node*> indexed;
};

std::optional<RowsAndColumns> find_rows(const graph::Value& product, const Roots& roots, const GroupContext& context) {
  const Shape& space = roots[0]->outputs[0]->spec.shape;
  const Dim& length = product.spec.shape[-1];
  int first = space.rank() - 1;  // of the axes that make up a row
  Dim inside = first < 0 ? Dim(1) : space[first];
  while (first > 0 && !inside.same_as(length)) inside = inside * space[--first];
  if (first < 0 || !inside.same_as(length)) return std::nullopt;
  const LoopAxes found = find_axes(roots, context, [&](int, int inner) { return inner != first; });
  if (found.axes.back().first != first) return std::nullopt;
  return RowsAndColumns{{found.axes.begin(), found.axes.end() - 1}, found.axes.back(), found.indexed};
}

}  // namespace

bool can_follow(const graph::Value& product, const Roots& roots, const Groups& groups) {
  const GroupContext nowhere{groups, [](const graph::Value* value) { return value->id; }, [](const graph::Node*) { return 0; },
                             [](Dtype, const Dim&) { return 0; }};
  return find_rows(product, roots, nowhere).has_value();
}

EpilogueWriter::EpilogueWriter(KernelWriter& kernel, const graph::Value& product, const Roots& roots, const GroupContext& context)
    : kernel_(kernel), roots_(roots), context_(context), elements_(kernel, context.groups, context.find_buffer, context.node_number) {
  std::optional<RowsAndColumns> found = find_rows(product, roots, context);
  if (!found) throw InternalError(fmt::format("lower: %{} is followed by a loop along other rows", product.id));
  rows_ = std::move(found->rows);
  columns_ = found->columns;
  indexed_ = std::move(found->indexed);
  open_ = open_sizes(roots, context, columns_);
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
    b.vector_for(block.first_column, block.end_column, [&](Value column) {
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
