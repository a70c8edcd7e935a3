// bitcast: x -> what the same bits are in another dtype of that width. No gradient.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "tensor/half.h"

#include <anyshape/ops/bitwise.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct BitcastAttrs {
  Dtype dtype = Dtype::i32;
  template <class V>
  void visit(V& v) {
    v("dtype", dtype);
  }
};

// Halves and truth values have no bits of their own in the instructions.
bool has_bits(Dtype dtype) { return dtype != Dtype::b8 && !is_half(dtype); }

Specs shape(OpCall& call) {
  const Dtype from = call.inputs[0].dtype, to = call.attrs_as<BitcastAttrs>().dtype;
  if (from != to && (size_of(from) != size_of(to) || !has_bits(from) || !has_bits(to))) {
    call.fail_dtype(fmt::format("the bits of {} are none of {}", to_string(from), to_string(to)), "f32 and i32, f64 and i64, or one dtype twice");
  }
  return {{to, call.shape(0), {}}};
}

loop::Value element(ElementCall& call) {
  const loop::Value x = call.operand(0);
  return call.b.type(x) == call.output.dtype || is_half(call.output.dtype) ? x : call.b.bitcast(x, call.output.dtype);
}

bool keeps_dtype(const OpCall& call) { return call.inputs[0].dtype == call.attrs_as<BitcastAttrs>().dtype; }

}  // namespace

extern constinit const OpDef bitcast_op{.name = "bitcast",
                                        .kind = OpKind::Elementwise,
                                        .inputs = 1,
                                        .dtype = dtype_rule::any,
                                        .shape = shape,
                                        .ragged = RaggedPolicy::Values,
                                        .element = element,
                                        .attrs = [] { return Attrs(BitcastAttrs{}); },
                                        .traits = {.is_identity = keeps_dtype}};

Tensor bitcast(const Tensor& x, Dtype dtype) { return bind(bitcast_op, {x}, BitcastAttrs{dtype}); }

}  // namespace anyshape
