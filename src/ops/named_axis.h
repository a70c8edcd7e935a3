// Validation for ops that are made of other ops: what they refuse, they refuse under their own name.
#pragma once
#include <anyshape/tensor.h>

#include <string_view>

namespace anyshape {

// ShapeError "<op>: <what>: x is f32[2, 3]; expected <rule>."
[[noreturn]] void refuse(std::string_view op, const Tensor& x, std::string_view what, std::string_view expected);

int require_axis(std::string_view op, const Tensor& x, int64_t axis);            // counted from the front; ShapeError outside x's rank
int require_axis(std::string_view op, const Tensor& x, int64_t axis, int rank);  // of a result of another rank

}  // namespace anyshape
