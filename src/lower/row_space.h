// Rows: what reductions along the last axes combine, and which values belong to a row as a whole or to each of its elements.
#pragma once
#include "graph/graph.h"

#include <optional>

namespace anyshape::lower {

struct RowSpace {
  Shape space;       // every element of every row
  int row_rank = 0;  // leading axes that number the rows; the others are walked within one

  bool is_full(const Shape& shape) const { return shape.same_as(space); }  // a value for each element
  bool is_per_row(const Shape& shape) const;                               // a value for each row: its axes, then none or sizes of 1
  bool same_as(const RowSpace& other) const { return row_rank == other.row_rank && space.same_as(other.space); }
  bool combines_rows(const graph::Node& node) const;  // a reduction of all rows to one, element by element
  Dim rows() const;
  Dim length() const;  // elements of one row
};

std::vector<AxisFate> fates_of(const graph::Node& reduction);  // one per axis of its input

// The rows that a reduction combines; none where it combines other axes, or one whose fate is open, or leaves nothing to number rows by.
std::optional<RowSpace> row_space_of(const graph::Node& node);

}  // namespace anyshape::lower
