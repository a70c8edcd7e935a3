// full: a scalar -> a tensor of a shape with that value everywhere; ones and zeros by way of it.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/elementwise/host_numbers.h"
#include "ops/ragged/rules.h"
#include "ops/shape_attrs.h"
#include "ops/sizes.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  if (call.shape(0).rank() != 0) call.fail("the value is no scalar", "a tensor of rank 0. Use broadcast_to to repeat a larger one");
  require_sizes(call, call.attrs_as<ShapeAttrs>().shape);
  return {{call.inputs[0].dtype, call.attrs_as<ShapeAttrs>().shape, {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) { return {sum(call.dys[0])}; }

loop::Value element(ElementCall& call) { return call.input(0, {}); }

// A host number that f32 elements hold in part only.
bool is_rounded(const TensorImpl& number) {
  return number.dtype == Dtype::f32 && static_cast<double>(static_cast<float>(number.number)) != number.number;
}

Tensor filled(const Shape& shape, Dtype dtype, int64_t value) { return full(shape, make_scalar(dtype, value)); }

constexpr RowRule row_rule{.inputs = RowRule::Inputs::None, .with_rows = shape_with_rows};

}  // namespace

constinit const OpDef full_op{.name = "full",
                              .kind = OpKind::Source,
                              .inputs = 1,
                              .dtype = dtype_rule::any,
                              .shape = shape,
                              .gradient = gradient,
                              .element = element,
                              .rows = &row_rule,
                              .attrs = [] { return Attrs(ShapeAttrs{}); },
                              .traits = {.keeps_elements = true, .never_negative_zero = NeverNegativeZero::WithAllInputs}};

Tensor full(const Shape& shape, const Tensor& value, FullOptions options) {
  const NamedCall call("full", value);
  if (options.dtype) return bind(full_op, {cast(value, *options.dtype)}, ShapeAttrs{shape});
  const Tensor result = bind(full_op, {value}, ShapeAttrs{shape});
  const TensorImpl& given = *value.impl();
  // Made just now, so that nobody else has looked at it.
  if (has_host_number(value) && is_rounded(given)) const_cast<TensorImpl&>(*result.impl()).number = given.number;
  return result;
}
Tensor ones(const Shape& shape, MakeOptions options) {
  const NamedCall call("ones");
  return filled(shape, options.dtype, 1);
}
Tensor zeros(const Shape& shape, MakeOptions options) {
  const NamedCall call("zeros");
  return filled(shape, options.dtype, 0);
}

Tensor full_like(const Tensor& x, const Tensor& value, LikeOptions options) {
  const NamedCall call("full_like", x, value);
  if (x.is_ragged()) return on_values(x, [&](const Tensor& values) { return full_like(values, value, options); });
  return full(x.shape(), cast(value, options.dtype.value_or(x.dtype())));
}
Tensor ones_like(const Tensor& x, LikeOptions options) {
  const NamedCall call("ones_like", x);
  return full_like(x, 1, options);
}
Tensor zeros_like(const Tensor& x, LikeOptions options) {
  const NamedCall call("zeros_like", x);
  return full_like(x, 0, options);
}

}  // namespace anyshape
