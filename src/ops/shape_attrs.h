// The attributes of ops that are told the shape of their result: reshape, broadcast_to, sum_to, full.
#pragma once
#include "graph/attrs.h"

#include <anyshape/shape.h>

#include <utility>

namespace anyshape {

struct ShapeAttrs {
  Shape shape;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
  }
};

// The same with another size of the first axis.
inline Attrs shape_with_rows(const Attrs& attrs, const Dim& rows) {
  Shape shape = attrs.as<ShapeAttrs>().shape;
  shape[0] = rows;
  return ShapeAttrs{std::move(shape)};
}

}  // namespace anyshape
