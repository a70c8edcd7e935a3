// boolean_mask: x [masked..., rest...], mask [masked...] -> the parts of x where the mask is true, [count, rest...]; where they stood among the
// masked ones, i32 [count]; and count.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/build.h"
#include "ops/all_ops.h"
#include "ops/data/compact.h"
#include "ops/sizes.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

void mask_last(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::any(op, inputs, wanted);
  if (inputs[1].dtype == Dtype::b8) return;
  throw DtypeError(fmt::format("{}: the mask is {}; expected b8. Compare to make one: mask != 0.", op, to_string(inputs[1].dtype)));
}

Specs shape(OpCall& call) {
  const Shape &x = call.shape(0), &mask = call.shape(1);
  constexpr std::string_view rule = "a mask b of rank 1 or more whose sizes are the first ones of a";
  if (mask.rank() == 0) call.fail("the mask is a scalar", rule);
  if (mask.rank() > x.rank()) call.fail("the mask has more axes than what it is for", rule);
  for (int axis = 0; axis < mask.rank(); ++axis) call.require({Relation::Equal, x[axis], mask[axis]}, "the mask does not fit", rule);
  call.require({Relation::LessEqual, mask.count(), std::numeric_limits<int32_t>::max()}, "the mask is too large for i32 positions",
               "at most 2147483647 elements in the mask");
  const Dim count = call.make_size(mask.count());
  Shape result{count};
  for (int axis = mask.rank(); axis < x.rank(); ++axis) result.push_back(x[axis]);
  return {{call.inputs[0].dtype, std::move(result), {}}, {Dtype::i32, {count}, {}}, {Dtype::i64, {}, {}}};
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Shape &x = call.call.shape(0), &mask = call.call.shape(1);
  const Dim row = count_between(x, mask.rank(), x.rank());
  const loop::Value row_size = call.size(row);
  const int32_t from = call.input(0), flags = call.input(1), to = call.output(0), positions = call.output(1);
  compact(
      call, mask.count(), [&](loop::Value i) { return b.load(flags, i); },
      [&](loop::Value i, loop::Value index) {
        b.store(positions, index, b.cast(i, Dtype::i32));
        if (row.same_as(1)) return b.store(to, index, b.load(from, i));
        const loop::Value source = b.multiply(i, row_size), target = b.multiply(index, row_size);
        b.elements(b.integer(0), row_size, [&](loop::Value j) { b.store(to, b.add(target, j), b.load(from, b.add(source, j))); });
      });
}

// Each part goes back to where it stood.
std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape x = call.inputs[0].shape(), mask = call.inputs[1].shape();
  Shape rows{mask.count()};
  for (int axis = mask.rank(); axis < x.rank(); ++axis) rows.push_back(x[axis]);
  return {reshape(scatter(expand_dims(call.outputs[1], -1), call.dys[0], rows), x), {}};
}

}  // namespace

constinit const OpDef boolean_mask_op{
    .name = "boolean_mask", .kind = OpKind::Index, .inputs = 2, .dtype = mask_last, .shape = shape, .gradient = gradient, .lower = lower};

Tensor boolean_mask(const Tensor& x, const Tensor& mask) { return bind(boolean_mask_op, {x, mask}); }

}  // namespace anyshape
