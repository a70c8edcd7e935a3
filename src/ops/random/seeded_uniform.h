// Random numbers that depend on a key and a counter given as a tensor, and on nothing else: what a layer with a seed of its own draws.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

extern const OpDef seeded_uniform_op;

// Numbers in [0, 1) of f32 or f64; state i64[2]: the key, and the number of the draw.
Tensor seeded_uniform(const Shape& shape, const Tensor& state, Dtype dtype);

}  // namespace anyshape
