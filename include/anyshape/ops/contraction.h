// Products summed over an axis. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

namespace [[gnu::visibility("default")]] anyshape {

// Contraction: [..., m, k] with [..., k, n] gives [..., m, n]; leading axes broadcast.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

}  // namespace anyshape
