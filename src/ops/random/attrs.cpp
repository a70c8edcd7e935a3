// The rules of random ops.
#include "ops/random/attrs.h"

#include "ops/sizes.h"

#include <fmt/format.h>

namespace anyshape {

Specs random_shape(OpCall& call) {
  const RandomAttrs& attrs = call.attrs_as<RandomAttrs>();
  if (attrs.dtype != Dtype::f32 && attrs.dtype != Dtype::f64) {
    call.fail_dtype(fmt::format("random numbers of dtype {}", to_string(attrs.dtype)), "f32 or f64. Make f32 and cast it");
  }
  require_sizes(call, attrs.shape);
  return {{attrs.dtype, attrs.shape, {}}};
}

loop::RandomWords random_words(ElementCall& call) {
  return loop::philox(call.b, call.random_key(), call.linear_index(), call.random_counter());
}

}  // namespace anyshape
