// size: a size of a tensor, or what sizes make, as a scalar.
#include "ops/source/size.h"
#include "graph/named_call.h"

#include "graph/bind.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "shape/dim_node.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) { return {{call.attrs_as<SizeAttrs>().dtype, {}, {}}}; }

loop::Value element(ElementCall& call) { return call.b.cast(call.size(call.call.attrs_as<SizeAttrs>().dim), call.output.dtype); }

}  // namespace

constinit const OpDef size_op{.name = "size",
                              .kind = OpKind::Source,
                              .inputs = 0,
                              .shape = shape,
                              .element = element,
                              .attrs = [] { return Attrs(SizeAttrs{}); },
                              .traits = {.never_negative_zero = NeverNegativeZero::Always}};

Tensor size_tensor(const Dim& dim, Dtype dtype) {
  require_size(dim);
  if (dim.is_constant()) return make_scalar(dtype, dim.value());
  return bind(size_op, {}, SizeAttrs{dim, dtype});
}

Tensor size(const Tensor& x, int64_t axis) {
  const NamedCall call("size", x);
  return size_tensor(x.shape()[call.axis(axis)], Dtype::i64);
}

}  // namespace anyshape
