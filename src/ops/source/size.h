// A size as a tensor: how a number that sizes make enters arithmetic.
#pragma once
#include <anyshape/dim.h>
#include <anyshape/dtype.h>
#include <anyshape/tensor.h>

namespace anyshape {

struct SizeAttrs {
  Dim dim;
  Dtype dtype = Dtype::i64;
  template <class V>
  void visit(V& v) {
    v("dim", dim);
    v("dtype", dtype);
  }
};

Tensor size_tensor(const Dim& dim, Dtype dtype);  // rank 0

}  // namespace anyshape
