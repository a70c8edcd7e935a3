// From a matmul call to loops: library products for f32, generated loops for the other dtypes.
#pragma once
#include "loop/element.h"

namespace anyshape {

struct MatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  template <class V>
  void visit(V& v) {
    v("transpose_a", transpose_a);
    v("transpose_b", transpose_b);
  }
};

Shape batch_shape(const Shape& shape);  // all axes but the last two
bool is_one_matrix(const Shape& shape);
void lower_matmul(LowerCall& call);

}  // namespace anyshape
