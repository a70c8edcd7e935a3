// Loop nests that lowering rules share.
#pragma once
#include "loop/build.h"

#include <functional>
#include <span>
#include <vector>

namespace anyshape {

void fill(loop::Builder& b, int32_t buffer, loop::Value count, loop::Value value);

// The index along each axis of the element with this row-major number.
std::vector<loop::Value> unravel(loop::Builder& b, loop::Value number, std::span<const loop::Value> sizes);

// The row-major number of an element.
loop::Value ravel(loop::Builder& b, std::span<const loop::Value> index, std::span<const loop::Value> sizes);

loop::Value modulo(loop::Builder& b, loop::Value a, loop::Value divisor);

}  // namespace anyshape
