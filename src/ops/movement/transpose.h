// The transpose op as others see it: axis k of the result is axis permutation[k] of the input, counted from the front.
#pragma once
#include <cstdint>
#include <vector>

namespace anyshape {

struct TransposeAttrs {
  std::vector<int64_t> permutation;
  template <class V>
  void visit(V& v) {
    v("permutation", permutation);
  }
};

}  // namespace anyshape
