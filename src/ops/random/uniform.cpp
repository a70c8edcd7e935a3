// random::uniform: numbers in [0, 1) as an op; other intervals by arithmetic on it.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

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
  const NamedCall call("random::uniform");
  if (!(options.low <= options.high)) call.fail_argument(fmt::format("low is {} and high is {}", options.low, options.high), "low <= high");
  Tensor numbers = bind(uniform_op, {}, RandomAttrs{shape, options.dtype});
  if (options.high - options.low != 1) numbers = numbers * (options.high - options.low);
  return options.low == 0 ? numbers : numbers + options.low;
}

}  // namespace anyshape
