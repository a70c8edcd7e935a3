// seeded_uniform: state i64[2] -> numbers in [0, 1). A function of its input, unlike random::uniform, which draws from the call's numbers.
#include "ops/random/seeded_uniform.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "loop/math.h"
#include "ops/sizes.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

struct SeededUniformAttrs {
  Shape shape;
  Dtype dtype = Dtype::f32;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
    v("dtype", dtype);
  }
};

Specs shape(OpCall& call) {
  const SeededUniformAttrs& attrs = call.attrs_as<SeededUniformAttrs>();
  if (attrs.dtype != Dtype::f32 && attrs.dtype != Dtype::f64)
    call.fail_dtype(fmt::format("random numbers of dtype {}", to_string(attrs.dtype)), "f32 or f64. Make f32 and cast it");
  if (call.inputs[0].dtype != Dtype::i64) call.fail_dtype("the state is no i64", "i64[2]: a key and a counter");
  if (call.shape(0).rank() != 1) call.fail("the state is no pair", "i64[2]: a key and a counter");
  call.require({Relation::Equal, call.shape(0)[0], 2}, "the state is no pair", "i64[2]: a key and a counter");
  require_sizes(call, attrs.shape);
  return {{attrs.dtype, attrs.shape, {}}};
}

loop::Value element(ElementCall& call) {
  const auto state = [&](int64_t index) {
    const loop::Value at[] = {call.b.integer(index)};
    return call.input(0, at);
  };
  const loop::RandomWords words = loop::philox(call.b, state(0), call.linear_index(), state(1));
  return loop::uniform_from_words(call.b, words, call.output.dtype);
}

}  // namespace

constinit const OpDef seeded_uniform_op{.name = "seeded_uniform",
                                        .kind = OpKind::Index,
                                        .inputs = 1,
                                        .dtype = dtype_rule::any,
                                        .shape = shape,
                                        .element = element,
                                        .whole_inputs = 0b1,
                                        .attrs = [] { return Attrs(SeededUniformAttrs{}); }};

Tensor seeded_uniform(const Shape& shape, const Tensor& state, Dtype dtype) {
  return bind(seeded_uniform_op, {state}, SeededUniformAttrs{shape, dtype});
}

}  // namespace anyshape
