// random::uniform: numbers in [0, 1) as an op; other intervals by arithmetic on it.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

namespace anyshape {

constinit const OpDef uniform_op{
    .name = "random::uniform",
    .kind = OpKind::Random,
    .inputs = 0,
    .shape = random_shape,
    .element = [](ElementCall& call) { return loop::uniform_from_words(call.b, random_words(call), call.output.dtype); },
    .attrs = [] { return Attrs(RandomAttrs{}); }};

Tensor random::uniform(const Shape& shape, UniformOptions options) {
  if (!(options.low <= options.high)) {
    throw ArgumentError(fmt::format("random::uniform: low is {} and high is {}; expected low <= high.", options.low, options.high));
  }
  Tensor numbers = bind(uniform_op, {}, RandomAttrs{shape, options.dtype});
  if (options.high - options.low != 1) numbers = numbers * (options.high - options.low);
  return options.low == 0 ? numbers : numbers + options.low;
}

}  // namespace anyshape
