// The pad op as other ops use it: elements put at even distances among copies of one value.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

struct PadAttrs {
  std::vector<Dim> begins;  // per leading axis: where the first element goes
  std::vector<int64_t> steps;
  Shape shape;  // of the result
  template <class V>
  void visit(V& v) {
    v("begins", begins);
    v("steps", steps);
    v("shape", shape);
  }
};

Tensor place_among_zeros(const Tensor& x, PadAttrs attrs);  // the reverse of a slice

}  // namespace anyshape
