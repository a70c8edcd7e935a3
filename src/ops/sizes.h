// Sizes that a caller names: the rule they all obey.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

// ShapeError where a size is negative, more than max_rank are given, or the number of elements overflows; open ones become checks.
void require_sizes(OpCall& call, const Shape& shape);

// The product of the sizes of axes [begin, end).
Dim count_between(const Shape& shape, int begin, int end);

}  // namespace anyshape
