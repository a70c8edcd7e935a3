// The attributes of concat and stack: the axis along which tensors come one after the other.
#pragma once
#include "graph/op_def.h"

#include <cstdint>

namespace anyshape {

struct ConcatAttrs {
  int64_t axis = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

}  // namespace anyshape
