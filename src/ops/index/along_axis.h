// What the ops that read and write by index along an axis share.
#pragma once
#include "loop/element.h"

#include <functional>

namespace anyshape {

// Where an index leads: negative ones count from the end. Indices are known to be within -size <= i < size when this runs.
loop::Value wrapped_index(loop::Builder& b, loop::Value index, loop::Value size);

enum class IndexPer : uint8_t { Row, Element };  // one index for a whole run of inner elements, or each has its own

// Output 0, of shape [outer..., size, inner...] as `to` says, becomes zeros plus input 0, of shape [outer..., count, inner...]: element
// (row, k, column) is added at (row, index_of(row, k, column), column). Columns and rows go to the pool, the k of one index are added in
// order.
using IndexOf = std::function<loop::Value(loop::Value row, loop::Value k, loop::Value column)>;
void add_along_axis(LowerCall& call, const Shape& to, int along, const Dim& count, IndexPer per, const IndexOf& index_of);

}  // namespace anyshape
