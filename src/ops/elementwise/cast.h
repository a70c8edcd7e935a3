// The cast op as others see it.
#pragma once
#include <anyshape/dtype.h>

namespace anyshape {

struct CastAttrs {
  Dtype dtype = Dtype::f32;
  template <class V>
  void visit(V& v) {
    v("dtype", dtype);
  }
};

}  // namespace anyshape
