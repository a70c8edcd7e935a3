// What random ops share: attributes, the shape rule, and the words of an element.
#pragma once
#include "loop/element.h"
#include "loop/math.h"

#include <anyshape/random.h>

namespace anyshape {

struct RandomAttrs {
  Shape shape;
  Dtype dtype = Dtype::f32;
  int64_t stream = no_stream;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
    v("dtype", dtype);
    v("stream", stream);
  }
};

Specs random_shape(OpCall& call);  // DtypeError but for f32 and f64

// Element i of an op draws Philox(key, i, the op's counter): the same numbers in any order and on any number of threads.
loop::RandomWords random_words(ElementCall& call);

// Numbers of an op whose mean is 0 and whose deviation counts as 1, with another mean and deviation.
Tensor draw_normal(const OpDef& op, const Shape& shape, const random::NormalOptions& options);

}  // namespace anyshape
