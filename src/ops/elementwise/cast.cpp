// cast: x -> the same numbers in another dtype. Floats to integers truncate and saturate, NaN gives 0; anything to b8 is != 0; to a float
// that cannot hold the number the nearest one, ties to even, infinite where it is too large.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace anyshape {
namespace {

struct CastAttrs {
  Dtype dtype = Dtype::f32;
  template <class V>
  void visit(V& v) {
    v("dtype", dtype);
  }
};

Specs shape(OpCall& call) {
  const Dtype dtype = call.attrs_as<CastAttrs>().dtype;
  return {{dtype, call.shape(0), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) { return {cast(call.dys[0], call.inputs[0].dtype())}; }

loop::Value element(ElementCall& call) { return call.b.cast(call.operand(0), call.output.dtype); }

bool keeps_dtype(const OpCall& call) { return call.inputs[0].dtype == call.attrs_as<CastAttrs>().dtype; }

// The integers a dtype holds.
std::pair<int64_t, int64_t> range_of(Dtype dtype) {
  if (dtype == Dtype::u8) return {0, 255};
  if (dtype == Dtype::i32) return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
}

// A host number needs no op: it becomes a scalar of the dtype on the spot, as exactly as that dtype can hold it.
Tensor settled(const Tensor& number, Dtype dtype) {
  if (dtype == Dtype::b8) return make_scalar(dtype, static_cast<int64_t>(number.item<double>() != 0));
  if (is_integer(number.dtype()) && is_integer(dtype)) {
    const int64_t integer = number.item<int64_t>();
    if (const auto [low, high] = range_of(dtype); integer < low || integer > high) {
      throw DtypeError(
          fmt::format("cast: the host number {} does not fit {}; expected {} <= number <= {}. Cast the tensor it meets to a wider dtype.",
                      integer, to_string(dtype), low, high));
    }
  }
  return number_as(number, dtype);
}

}  // namespace

Attrs cast_attrs(Dtype dtype) { return CastAttrs{dtype}; }

constinit const OpDef cast_op{
    .name = "cast",
    .kind = OpKind::Elementwise,
    .inputs = 1,
    .dtype = dtype_rule::any,
    .shape = shape,
    .ragged = RaggedPolicy::Values,
    .gradient = gradient,
    .element = element,
    .attrs = [] { return Attrs(CastAttrs{}); },
    .traits = {.is_cast = true, .never_negative_zero = NeverNegativeZero::WithIntegerInputs, .is_identity = keeps_dtype}};

Tensor cast(const Tensor& x, Dtype dtype) {
  const NamedCall call("cast", x);
  if (x.dtype() == dtype && !x.impl()->weak) return x;
  if (x.impl()->weak) return settled(x, dtype);
  const double number = dtype == Dtype::f64 ? x.impl()->number : 0;  // that f32 elements hold in part, see full() and host_numbers.h
  if (number == 0) return bind(cast_op, {x}, CastAttrs{dtype});
  if (!current_interpreter().records()) return full(x.shape(), make_scalar(dtype, number));
  // Gradients go through the cast: what f32 lost is added to it, which gives the number exactly.
  const Tensor held = bind(cast_op, {x}, CastAttrs{dtype});
  if (!std::isfinite(static_cast<float>(number))) return held;
  return held + (full(x.shape(), make_scalar(dtype, number)) - stop_gradient(held));
}

}  // namespace anyshape
