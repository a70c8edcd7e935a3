// nonzero: x -> the index of every element that is not 0, in row-major order, i32 [count, rank]; and count.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/build.h"
#include "ops/all_ops.h"
#include "ops/data/compact.h"
#include "ops/loops.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const Shape& x = call.shape(0);
  if (x.rank() == 0) call.fail("a scalar has no indices", "at least one axis");
  for (const Dim& size : x) {
    call.require({Relation::LessEqual, size, std::numeric_limits<int32_t>::max()}, "an axis is too long for i32 indices",
                 "at most 2147483647 elements along an axis");
  }
  return {{Dtype::i32, {call.make_size(x.count()), x.rank()}, {}}, {Dtype::i64, {}, {}}};
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Shape& x = call.call.shape(0);
  std::vector<loop::Value> sizes;
  for (const Dim& size : x) sizes.push_back(call.size(size));
  const int32_t from = call.input(0), indices = call.output(0);
  compact(
      call, x.count(),
      [&](loop::Value i) {
        const loop::Value element = b.load(from, i);
        if (b.type(element) == Dtype::b8) return element;
        return b.binary(loop::Op::NotEqual, element, b.constant(b.type(element), int64_t{0}));
      },
      [&](loop::Value i, loop::Value number) {
        const std::vector<loop::Value> index = unravel(b, i, sizes);
        const loop::Value row = b.multiply(number, b.integer(x.rank()));
        for (size_t axis = 0; axis < index.size(); ++axis)
          b.store(indices, b.add(row, b.integer(static_cast<int64_t>(axis))), b.cast(index[axis], Dtype::i32));
      });
}

}  // namespace

constinit const OpDef nonzero_op{
    .name = "nonzero", .kind = OpKind::Index, .inputs = 1, .dtype = dtype_rule::any, .shape = shape, .lower = lower};

Tensor nonzero(const Tensor& x) { return bind(nonzero_op, {x}); }

Tensor where(const Tensor& condition) {
  const NamedCall call("where", condition);
  if (condition.dtype() != Dtype::b8)
    call.fail_dtype("the condition has another dtype", "b8; compare to make one (x != 0), or use nonzero(x)");
  return nonzero(condition);
}

}  // namespace anyshape
