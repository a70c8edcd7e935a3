// cast: x -> the same numbers in another dtype. Floats to integers truncate and saturate, NaN gives 0; anything to b8 is != 0.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/computable.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

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
  require_computable(call, dtype);
  return {{dtype, call.shape(0), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) { return {cast(call.dys[0], call.inputs[0].dtype())}; }

loop::Value element(ElementCall& call) { return call.b.cast(call.operand(0), call.output.dtype); }

// A host number needs no op: it becomes a scalar of the dtype on the spot.
Tensor settled(const Tensor& number, Dtype dtype) {
  if (dtype == Dtype::b8) return make_scalar(dtype, static_cast<int64_t>(number.item<double>() != 0));
  return is_floating(number.dtype()) ? make_scalar(dtype, number.item<double>()) : make_scalar(dtype, number.item<int64_t>());
}

}  // namespace

constinit const OpDef cast_op{.name = "cast",
                              .kind = OpKind::Elementwise,
                              .inputs = 1,
                              .dtype = dtype_rule::any,
                              .shape = shape,
                              .ragged = RaggedPolicy::Values,
                              .gradient = gradient,
                              .element = element,
                              .attrs = [] { return Attrs(CastAttrs{}); }};

Tensor cast(const Tensor& x, Dtype dtype) {
  if (x.dtype() == dtype && !x.impl()->weak) return x;
  if (x.impl()->weak && dtype != Dtype::f16 && dtype != Dtype::bf16) return settled(x, dtype);
  return bind(cast_op, {x}, CastAttrs{dtype});
}

}  // namespace anyshape
