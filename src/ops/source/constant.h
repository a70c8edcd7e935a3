// A literal in a graph: how a host number that a trace meets becomes part of it.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

struct ConstantAttrs {
  Dtype dtype = Dtype::f32;
  double number = 0;    // for floating dtypes
  int64_t integer = 0;  // for the others
  template <class V>
  void visit(V& v) {
    v("dtype", dtype);
    v("number", number);
    v("integer", integer);
  }
};

// The literal that an op's attributes hold; null of any other op.
const ConstantAttrs* literal_in(const OpDef& op, const Attrs& attrs);

}  // namespace anyshape
