// The attributes of one_hot: the size of the new axis, its index, and the dtype of the ones.
#pragma once
#include <anyshape/dim.h>
#include <anyshape/dtype.h>

#include <cstdint>

namespace anyshape {

struct OneHotAttrs {
  Dim classes;
  int64_t axis = -1;
  Dtype dtype = Dtype::f32;
  template <class V>
  void visit(V& v) {
    v("classes", classes);
    v("axis", axis);
    v("dtype", dtype);
  }
};

}  // namespace anyshape
