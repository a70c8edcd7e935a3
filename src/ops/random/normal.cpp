// random::normal: the standard normal distribution as an op; mean and deviation by arithmetic on it.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

namespace anyshape {

constinit const OpDef normal_op{
    .name = "random::normal",
    .kind = OpKind::Random,
    .inputs = 0,
    .shape = random_shape,
    .element = [](ElementCall& call) { return loop::normal_from_words(call.b, random_words(call), call.output.dtype); },
    .attrs = [] { return Attrs(RandomAttrs{}); }};

Tensor random::normal(const Shape& shape, NormalOptions options) {
  const NamedCall call("random::normal");
  if (!(options.deviation >= 0)) call.fail_argument(fmt::format("deviation is {}", options.deviation), "a number of at least 0");
  Tensor numbers = bind(normal_op, {}, RandomAttrs{shape, options.dtype});
  if (options.deviation != 1) numbers = numbers * options.deviation;
  return options.mean == 0 ? numbers : numbers + options.mean;
}

}  // namespace anyshape
