// The rules of random ops.
#include "ops/random/attrs.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

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

Tensor draw_normal(const OpDef& op, const Shape& shape, const random::NormalOptions& options) {
  const NamedCall call(op.name);
  if (!(options.deviation >= 0)) call.fail_argument(fmt::format("deviation is {}", options.deviation), "a number of at least 0");
  Tensor numbers = bind(op, {}, RandomAttrs{shape, options.dtype});
  if (options.deviation != 1) numbers = numbers * options.deviation;
  return options.mean == 0 ? numbers : numbers + options.mean;
}

}  // namespace anyshape
