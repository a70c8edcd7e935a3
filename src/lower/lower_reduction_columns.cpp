// Reductions whose innermost axis stays: columns in vector lanes.
#include "lower/reduction_kernel.h"

#include <algorithm>

namespace anyshape::lower {

using loop::Value;

// The innermost axis stays: its elements are vector lanes, and each lane combines in order.
void ReductionKernel::emit_columns() {
  const size_t last = axes_.size() - 1;
  const Value columns = kernel_.size(axes_[last].group.extent);
  auto columns_of = [&](Value begin, Value end) {
    b_.vector_for(begin, end, [&](Value column) {
      kept_[last] = column;
      write(accumulate(0, column));
    });
  };
  const bool outer_kept = std::any_of(axes_.begin(), axes_.end() - 1, [](const Axis& axis) { return axis.fate != AxisFate::Reduced; });
  if (outer_kept) return walk_kept(0, [&] { columns_of(b_.integer(0), columns); });
  if (last > 0) return emit_column_parts();
  b_.parallel_for(b_.integer(0), b_.ceil_divide(columns, task_elements), b_.integer(1), [&](Value part) {
    const Value begin = b_.multiply(part, b_.integer(task_elements));
    columns_of(begin, b_.minimum(b_.add(begin, b_.integer(task_elements)), columns));
  });
}

// Nothing but the innermost axis stays, as in the gradient of a bias: parts of the rows side by side, then their results in order. A part goes
// through its rows a few at a time, so that memory is read along rows and what has been combined is near.
void ReductionKernel::emit_column_parts() {
  const size_t last = axes_.size() - 1;
  const Axis& first = axes_[0];
  const Dim width = row_elements();
  const Dim part_rows = rows_per_part(width), parts = (first.group.extent + part_rows - 1) / part_rows;
  const Dim column_count = axes_[last].group.extent;
  const Value columns = kernel_.size(column_count), rows = kernel_.size(first.group.extent);
  const std::vector<int32_t> partial = partial_results(parts * column_count);
  const Value zero = b_.integer(0), one = b_.integer(1), strips = b_.ceil_divide(columns, columns_at_once);
  const Value part_size = b_.multiply(kernel_.size(part_rows), kernel_.size(width));
  const Value grain = b_.maximum(b_.floor_divide(b_.multiply(b_.integer(task_elements), strips), b_.maximum(part_size, one)), one);
  // Two long rows, which memory delivers together, or some more short ones.
  const Value at_once =
      b_.minimum(b_.maximum(b_.floor_divide(b_.integer(2 * columns_at_once), b_.maximum(columns, one)), b_.integer(2)), b_.integer(16));
  // Part after part, so that tasks of one part are neighbours.
  using ForColumns = std::function<void(const std::function<void(Value column)>&)>;
  auto in_strips = [&](Value part_count, const std::function<void(Value part, const ForColumns& for_columns)>& body) {
    b_.parallel_for(zero, b_.multiply(part_count, strips), grain, [&](Value task) {
      const Value part = b_.floor_divide(task, strips),
                  begin = b_.multiply(b_.subtract(task, b_.multiply(part, strips)), b_.integer(columns_at_once));
      body(part, [&](const std::function<void(Value)>& each) {
        b_.vector_for(begin, b_.minimum(b_.add(begin, b_.integer(columns_at_once)), columns), [&](Value column) {
          kept_[last] = column;
          each(column);
        });
      });
    });
  };
  const auto offset = [&](Value part, Value column) { return b_.add(b_.multiply(part, columns), column); };
  in_strips(kernel_.size(parts), [&](Value part, const ForColumns& for_columns) {
    Values start;
    for (size_t i = 0; i < targets_.size(); ++i) start.push_back(loop::identity(b_, combine_[i], types_[i]));
    for_columns([&](Value column) { store_partial(partial, offset(part, column), start); });
    const Value begin = b_.multiply(part, kernel_.size(part_rows)), end = b_.minimum(b_.add(begin, kernel_.size(part_rows)), rows);
    b_.serial_for(zero, b_.floor_divide(b_.add(b_.subtract(end, begin), b_.subtract(at_once, one)), at_once), [&](Value iteration) {
      const Value from = b_.add(begin, b_.multiply(iteration, at_once)), to = b_.minimum(b_.add(from, at_once), end);
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
  in_strips(one, [&](Value, const ForColumns& for_columns) {
    for_columns([&](Value column) {
      write(in_order(zero, kernel_.size(parts), [&](Value part) { return load_partial(partial, offset(part, column)); }));
    });
  });
}

}  // namespace anyshape::lower
