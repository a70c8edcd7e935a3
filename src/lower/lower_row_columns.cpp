// Sums along columns within a kernel over rows: each block of rows adds to a row of its own, and these are combined in order, as parts are
// where such a sum has a kernel to itself.
#include "loop/combine.h"
#include "lower/rows_kernel.h"

namespace anyshape::lower {

using graph::Node;
using loop::Value;

Dim rows_per_part(const Dim& row) { return max(Dim(loop::column_part_elements) / max(row, 1), loop::least_column_part_rows); }

namespace {

loop::Combine combine_of(const Node& column) { return column.op->reduce->combine; }
Dtype type_of(const Node& column) { return computed_in(column.outputs[0]->spec.dtype); }

}  // namespace

void RowsKernel::begin_columns() {
  for_columns([&](const Node& column) {
    b_.elements(zero_, kernel_.size(length()), [&](Value inner) {
      at_.assign(1, inner);
      b_.store(scratch_.at(column.outputs[0]), offset_in_scratch(), loop::identity(b_, combine_of(column), type_of(column)));
    });
  });
}

Value RowsKernel::add_to_column(const Node& column, Value inner) {
  Value so_far = b_.load(scratch_.at(column.outputs[0]), offset_in_scratch());
  for_rows([&] {
    set_element(inner);
    so_far = loop::combined(b_, combine_of(column), so_far, elements_.element(column.inputs[0], at_));
  });
  return so_far;
}

void RowsKernel::finish_columns(Value blocks) {
  b_.ranges(kernel_.size(length()), blocks, loop::Walk::Sums, [&](Value begin, Value end) {
    b_.elements(begin, end, [&](Value inner) {
      at_.assign(1, inner);
      for_columns([&](const Node& column) {
        const Value result = loop::reduce_in_order(b_, zero_, blocks, combine_of(column), type_of(column), [&](Value block) {
          block_ = block;
          return b_.load(scratch_.at(column.outputs[0]), offset_in_scratch());
        });
        write_column(column, inner, result);
      });
    });
  });
}

// Few rows: each column by itself, once what it needs is known of the rows.
void RowsKernel::emit_long_columns(size_t number) {
  for (const Node* column : passes_.passes[number].columns) {
    b_.ranges(kernel_.size(length()), b_.integer(1), loop::Walk::Once, [&](Value begin, Value end) {
      b_.elements(begin, end, [&](Value inner) {
        const auto contribution = [&](Value row) {
          begin_long_row(row, number, false);
          set_element(inner);
          elements_.enter_body(inner, choices_);
          return elements_.element(column->inputs[0], at_);
        };
        write_column(*column, inner,
                     loop::reduce_in_order(b_, zero_, kernel_.size(rows_.rows()), combine_of(*column), type_of(*column), contribution));
      });
    });
  }
}

void RowsKernel::write_column(const Node& column, Value inner, Value result) {
  const Shape& shape = column.outputs[0]->spec.shape;
  std::vector<Value> index(static_cast<size_t>(shape.rank()), zero_);
  index.back() = inner;
  b_.store(buffers_.at(column.outputs[0]), elements_.offset(shape, index), result);
}

}  // namespace anyshape::lower
