// Gradients that a user hands in: they must be as the tensors they belong to.
#pragma once
#include <anyshape/tensor.h>

#include <string_view>

namespace anyshape {

// The gradient under the shape of `of`. DtypeError or ShapeError "<op>: <name> is f32[3]; expected f32[2], as <owner>." where it does not
// fit; sizes that are not known to be equal become checks.
Tensor fitted_gradient(std::string_view op, std::string_view name, const Tensor& gradient, std::string_view owner, const Tensor& of);

}  // namespace anyshape
