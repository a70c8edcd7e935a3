// The attributes of concat and stack: the axis along which tensors come one after the other.
#pragma once
#include "graph/op_def.h"

#include <cstdint>
#include <optional>

namespace anyshape {

struct ConcatAttrs {
  int64_t axis = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

// The axis of a result of this rank along which the op's inputs stand one after the other; none where it does anything else with them.
std::optional<int> joined_axis(const OpDef& op, const Attrs& attrs, int rank);

}  // namespace anyshape
