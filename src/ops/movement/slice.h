// The slice op as other ops use it: the element to begin with, how many, and the step, along one axis or along several.
#pragma once
#include "graph/op_def.h"

#include <anyshape/ops/movement.h>

namespace anyshape {

struct SliceAttrs {
  std::vector<Dim> begins;  // one per leading axis
  std::vector<Dim> sizes;
  std::vector<int64_t> steps;
  template <class V>
  void visit(V& v) {
    v("begins", begins);
    v("sizes", sizes);
    v("steps", steps);
  }
};

// A range as a user writes it, along an axis of this size: negative bounds count from the end, constant ones outside move to the nearest end.
void append_range(SliceAttrs& attrs, const SliceRange& range, const Dim& size);

// Elements begin, begin + step, ... along one axis, `size` of them.
Tensor slice_along(const Tensor& x, int axis, const Dim& begin, const Dim& size, int64_t step = 1);

}  // namespace anyshape
