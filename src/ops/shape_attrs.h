// The attributes of ops that are told the shape of their result: reshape, broadcast_to, sum_to, full.
#pragma once
#include <anyshape/shape.h>

namespace anyshape {

struct ShapeAttrs {
  Shape shape;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
  }
};

}  // namespace anyshape
