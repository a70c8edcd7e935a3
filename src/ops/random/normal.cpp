// random::normal: the standard normal distribution as an op; mean and deviation by arithmetic on it.
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

namespace anyshape {

constinit const OpDef normal_op{
    .name = "random::normal",
    .kind = OpKind::Random,
    .inputs = 0,
    .shape = random_shape,
    .element = [](ElementCall& call) { return loop::normal_from_words(call.b, random_words(call), call.output.dtype); },
    .attrs = [] { return Attrs(RandomAttrs{}); }};

Tensor random::normal(const Shape& shape, NormalOptions options) { return draw_normal(normal_op, shape, options); }

}  // namespace anyshape
