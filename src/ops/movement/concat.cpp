// concat: tensors that agree but along one axis -> one after the other along it.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct ConcatAttrs {
  int64_t axis = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

Specs shape(OpCall& call) {
  Shape result = call.shape(0);
  const int rank = result.rank();
  const int along = call.axis(call.attrs_as<ConcatAttrs>().axis, rank);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const Shape& shape = call.shape(static_cast<int>(i));
    if (shape.rank() != rank) call.fail("ranks differ", "tensors of one rank");
    for (int axis = 0; axis < rank; ++axis) {
      if (axis == along)
        result[axis] = result[axis] + shape[axis];
      else
        call.require({Relation::Equal, result[axis], shape[axis]}, fmt::format("sizes along axis {} differ", axis),
                     fmt::format("equal sizes along every axis but {}", along));
    }
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape first = call.inputs[0].shape();
  const int64_t axis = call.attrs.as<ConcatAttrs>().axis;
  const int along = static_cast<int>(axis < 0 ? axis + first.rank() : axis);
  std::vector<Tensor> result(call.inputs.size());
  std::vector<SliceRange> ranges(along + 1);
  Dim begin = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Dim end = begin + call.inputs[i].shape()[along];
    ranges[along] = {begin, end};
    if (call.needed[i]) result[i] = slice(call.dys[0], ranges);
    begin = end;
  }
  return result;
}

// Along the axes before the concatenated one, each input is a run of contiguous elements.
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Shape& to = call.outputs[0].shape;
  const int rank = to.rank();
  const int along = call.call.axis(call.call.attrs_as<ConcatAttrs>().axis, rank);
  const loop::Value rows = call.size(count_between(to, 0, along)), stride = call.size(count_between(to, along, rank));
  const int32_t target = call.output(0);
  Dim before = 0;
  for (size_t i = 0; i < call.call.inputs.size(); ++i) {
    const Dim run = count_between(call.call.shape(static_cast<int>(i)), along, rank);
    const int32_t source = call.input(static_cast<int>(i));
    const loop::Value length = call.size(run), offset = call.size(before);
    for_each_block(b, rows, length, [&](loop::Value row, loop::Value begin, loop::Value end) {
      const loop::Value from_row = b.multiply(row, length), to_row = b.add(b.multiply(row, stride), offset);
      b.vector_for(begin, end, [&](loop::Value j) { b.store(target, b.add(to_row, j), b.load(source, b.add(from_row, j))); });
    });
    before = before + run;
  }
}

}  // namespace

constinit const OpDef concat_op{.name = "concat",
                                .kind = OpKind::Movement,
                                .inputs = -1,
                                .dtype = dtype_rule::promoted,
                                .shape = shape,
                                .ragged = RaggedPolicy::PerRow,
                                .gradient = gradient,
                                .lower = lower,
                                .attrs = [] { return Attrs(ConcatAttrs{}); }};

Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options) {
  return bind_all(concat_op, tensors, ConcatAttrs{options.axis})[0];
}

}  // namespace anyshape
