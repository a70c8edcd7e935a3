// The count of draws is a variable: a trace draws other numbers at every call.
#include "nn/own_numbers.h"

#include "base/no_fork.h"
#include "base/spread_bits.h"
#include "graph/outside_trace.h"
#include "nn/layer_state.h"
#include "ops/random/seeded_uniform.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

namespace anyshape::nn {

void OwnNumbers::build(Layer& layer) {
  if (!seed_) return;
  const OutsideTrace outside;
  const auto key = static_cast<int64_t>(spread_bits(static_cast<uint64_t>(*seed_), 0));
  draws_ = Variable(tensor<int64_t>({key, 0}), {.trainable = false, .name = "draws"});
  const NoFork whole;
  layer.state().counters.push_back(draws_);
}

Tensor OwnNumbers::uniform(const Shape& shape, Dtype dtype) const {
  const Dtype drawn = dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32;
  if (!seed_) return random::uniform(shape, {.dtype = drawn});
  const Tensor state = draws_.read();
  draws_.assign(state + tensor<int64_t>({0, 1}));
  return seeded_uniform(shape, state, drawn);
}

}  // namespace anyshape::nn
