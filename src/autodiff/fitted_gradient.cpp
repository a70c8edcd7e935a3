// The one place where a gradient from outside is measured.
#include "autodiff/fitted_gradient.h"

#include "ops/contraction/contract.h"
#include "shape/prove.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {

Tensor fitted_gradient(std::string_view op, std::string_view name, const Tensor& gradient, std::string_view owner, const Tensor& of) {
  const Tensor given = gradient.impl()->weak ? cast(gradient, of.dtype()) : gradient;
  const auto text = [&](std::string_view advice) {
    return fmt::format("{}: {} is {}; expected {}, as {}.{}", op, name, describe(given), describe(of), owner, advice);
  };
  if (given.dtype() != of.dtype()) throw DtypeError(text(fmt::format(" Cast it with as::cast(gradient, as::{}).", to_string(of.dtype()))));
  const Shape sizes = given.shape(), wanted = of.shape();
  if (sizes.rank() != wanted.rank()) throw ShapeError(text(""));
  std::vector<std::string> names;
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    if (!proves_equal(sizes[axis], wanted[axis]).value_or(true)) throw ShapeError(text(""));
    names.push_back(fmt::format("axis {} of {}", axis, name));
  }
  return with_sizes(given, wanted, names);
}

}  // namespace anyshape
