// search_sorted: sorted [n], values -> where each value would be inserted, as i32. NaN counts as greater than every number, as in NumPy.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

struct SearchAttrs {
  bool right = false;
  template <class V>
  void visit(V& v) {
    v("right", right);
  }
};

Specs shape(OpCall& call) {
  if (call.shape(0).rank() != 1) call.fail("the sorted values are no vector", "a of rank 1");
  call.require({Relation::LessEqual, call.shape(0)[0], std::numeric_limits<int32_t>::max()}, "the vector is too long for i32 indices",
               "at most 2147483647 sorted values");
  return {{Dtype::i32, call.shape(1), {}}};
}

loop::Value is_before(loop::Builder& b, loop::Value x, loop::Value y) {
  const loop::Value less = b.less(x, y);
  if (!is_floating(b.type(x))) return less;
  const loop::Value only_y_is_nan = b.binary(loop::Op::And, b.binary(loop::Op::NotEqual, y, y), b.equal(x, x));
  return b.binary(loop::Op::Or, less, only_y_is_nan);
}

// How many halvings: the bits of n, which are the exponent of n as an f64; none for n = 0.
loop::Value bits_of(loop::Builder& b, loop::Value n) {
  const loop::Value bits = b.bitcast(b.cast(n, Dtype::f64), Dtype::i64);
  return b.subtract(b.binary(loop::Op::ShiftRightLogical, bits, b.integer(52)), b.integer(1022));
}

// The result is built from its highest bit down: a bit stays where the element before the index it leads to comes before the value.
loop::Value element(ElementCall& call) {
  loop::Builder& b = call.b;
  const bool right = call.call.attrs_as<SearchAttrs>().right;
  const loop::Value value = call.input(1, call.index), n = call.size(call.call.shape(0)[0]), bits = bits_of(b, n);
  const loop::Value start[] = {b.integer(0)};
  const std::vector<loop::Value> found = b.carry_for(
      b.integer(0), bits, start,
      [&](loop::Value exponent, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value bit = b.binary(loop::Op::ShiftLeft, b.integer(1), exponent), index = b.add(carried[0], bit);
        const loop::Value at[] = {b.subtract(b.minimum(index, n), b.integer(1))};
        const loop::Value other = call.input(0, at);
        const loop::Value before = right ? b.unary(loop::Op::Not, is_before(b, value, other)) : is_before(b, other, value);
        return {b.select(b.binary(loop::Op::And, before, b.binary(loop::Op::LessEqual, index, n)), index, carried[0])};
      },
      true);
  return b.cast(found[0], Dtype::i32);
}

std::vector<Tensor> ragged(const RaggedCall& call) {
  if (call.inputs[0].is_ragged()) refuse(call, "the sorted values are ragged", "a of rank 1");
  return {on_values(call.inputs[1], [&](const Tensor& values) { return bind(call.op, {call.inputs[0], values}, call.attrs); })};
}

}  // namespace

constinit const OpDef search_sorted_op{.name = "search_sorted",
                                       .kind = OpKind::Opaque,
                                       .inputs = 2,
                                       .dtype = dtype_rule::promoted,
                                       .shape = shape,
                                       .ragged = RaggedPolicy::Values,
                                       .ragged_rule = ragged,
                                       .element = element,
                                       .whole_inputs = 0b01,
                                       .attrs = [] { return Attrs(SearchAttrs{}); }};

Tensor search_sorted(const Tensor& sorted, const Tensor& values, SearchSortedOptions options) {
  return bind(search_sorted_op, {sorted, values}, SearchAttrs{options.side == SearchSide::Right});
}

}  // namespace anyshape
