// Reductions whose innermost axis stays: each column by itself, side by side.
#include "lower/reduction_kernel.h"

#include <algorithm>

namespace anyshape::lower {

using loop::Value;

// The innermost axis stays: each of its elements combines in order.
void ReductionKernel::emit_columns() {
  const size_t last = axes_.size() - 1;
  const Value columns = kernel_.size(axes_[last].group.extent);
  auto columns_of = [&](Value begin, Value end) {
    b_.elements(begin, end, [&](Value column) {
      kept_[last] = column;
      write(accumulate(0, column));
    });
  };
  const bool outer_kept = std::any_of(axes_.begin(), axes_.end() - 1, [](const Axis& axis) { return axis.fate != AxisFate::Reduced; });
  if (outer_kept) return walk_kept(0, [&] { columns_of(b_.integer(0), columns); });
  if (last > 0) return emit_column_parts();
  b_.ranges(columns, b_.integer(1), loop::Walk::Once, columns_of);
}

// Nothing but the innermost axis stays, as in the gradient of a bias: parts of the rows side by side, then their results in order. A part goes
// through its rows a few at a time, so that memory is read along rows and what has been combined is near.
void ReductionKernel::emit_column_parts() {
  const size_t last = axes_.size() - 1;
  const Axis& first = axes_[0];
  const Dim width = row_elements();
  const Dim part_rows = rows_per_part(width), parts = (first.group.extent + part_rows - 1) / part_rows;
  const Dim column_count = axes_[last].group.extent;
  const Value columns = kernel_.size(column_count), rows = kernel_.size(first.group.extent), rows_of_part = kernel_.size(part_rows);
  const std::vector<int32_t> partial = partial_results(parts * column_count);
  Dim part_work = part_rows;  // elements of one column
  for (size_t i = 1; i < last; ++i) part_work = part_work * axes_[i].group.extent;
  const Value zero = b_.integer(0);
  using ForColumns = std::function<void(const std::function<void(Value column)>&)>;
  auto in_strips = [&](Value part_count, Value work, const std::function<void(Value part, const ForColumns& for_columns)>& body) {
    b_.ranges(part_count, columns, work, loop::Walk::Sums, [&](Value part, Value begin, Value end) {
      body(part, [&](const std::function<void(Value)>& each) {
        b_.elements(begin, end, [&](Value column) {
          kept_[last] = column;
          each(column);
        });
      });
    });
  };
  const auto offset = [&](Value part, Value column) { return b_.add(b_.multiply(part, columns), column); };
  in_strips(kernel_.size(parts), kernel_.size(part_work), [&](Value part, const ForColumns& for_columns) {
    Values start;
    for (size_t i = 0; i < targets_.size(); ++i) start.push_back(loop::identity(b_, combine_[i], types_[i]));
    for_columns([&](Value column) { store_partial(partial, offset(part, column), start); });
    const Value begin = b_.multiply(part, rows_of_part), end = b_.minimum(b_.add(begin, rows_of_part), rows);
    b_.runs(begin, end, columns, [&](Value from, Value to) {
      for_columns([&](Value column) {
        const Values so_far = load_partial(partial, offset(part, column));
        const Values results = loop::combine_in_order(b_, from, to, combine_, so_far, [&](Value row) {
          reduced_[0] = row;
          return accumulate(1, column);
        });
        store_partial(partial, offset(part, column), results);
      });
    });
  });
  in_strips(b_.integer(1), kernel_.size(parts), [&](Value, const ForColumns& for_columns) {
    for_columns([&](Value column) {
      write(in_order(zero, kernel_.size(parts), [&](Value part) { return load_partial(partial, offset(part, column)); }));
    });
  });
}

}  // namespace anyshape::lower
