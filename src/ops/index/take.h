// The attributes of take (x, indices -> slices of x) and of its gradient (dys, indices -> dys added up where they were taken from).
#pragma once
#include <anyshape/shape.h>

#include <cstdint>

namespace anyshape {

struct TakeAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool from_end = true;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("batch_dims", batch_dims);
    v("from_end", from_end);
  }
};

struct TakeGradientAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool from_end = true;
  Shape shape;  // of what was taken from
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("batch_dims", batch_dims);
    v("from_end", from_end);
    v("shape", shape);
  }
};

}  // namespace anyshape
