// one_hot: indices -> 1 at each index along a new axis, 0 elsewhere; an index outside the classes gives zeros only.
#include "ops/index/one_hot.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

void small_integers_too(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  if (inputs[0].dtype == Dtype::u8) {
    wanted[0] = Dtype::i32;
  } else {
    dtype_rule::indices_last(op, inputs, wanted);
  }
}

Specs shape(OpCall& call) {
  const OneHotAttrs& attrs = call.attrs_as<OneHotAttrs>();
  const Shape& indices = call.shape(0);
  if (indices.rank() + 1 > max_rank) {
    call.fail(fmt::format("the result would have rank {}", indices.rank() + 1), fmt::format("a result of at most rank {}", max_rank));
  }
  const int added = call.axis(attrs.axis, indices.rank() + 1);
  call.require({Relation::LessEqual, 0, attrs.classes}, fmt::format("the number of classes is {}", to_string(attrs.classes)), "0 or more");
  Shape result;
  for (int axis = 0; axis < indices.rank() + 1; ++axis) {
    result.push_back(axis == added ? attrs.classes : indices[axis < added ? axis : axis - 1]);
  }
  return {{attrs.dtype, std::move(result), {}}};
}

loop::Value element(ElementCall& call) {
  const int added = call.call.axis(call.call.attrs_as<OneHotAttrs>().axis, call.output.shape.rank());
  std::vector<loop::Value> at(call.index.begin(), call.index.end());
  at.erase(at.begin() + added);
  const loop::Value chosen = call.b.equal(call.b.cast(call.input(0, at), Dtype::i64), call.index[static_cast<size_t>(added)]);
  return call.b.cast(chosen, call.output.dtype);
}

std::vector<Tensor> ragged(const RaggedCall& call) {
  const OneHotAttrs& attrs = call.attrs.as<OneHotAttrs>();
  const auto& [values, partition] = *as_ragged(call.inputs[0]);
  const int added = padded_axis(call, attrs.axis, call.inputs[0].rank() + 1);
  if (added < 2) refuse(call, "the new axis stands before the ragged one", "an axis behind the ragged one");
  return {make_ragged(bind(call.op, {values}, OneHotAttrs{attrs.classes, added - 1, attrs.dtype}), partition)};
}

}  // namespace

constinit const OpDef one_hot_op{.name = "one_hot",
                                 .kind = OpKind::Opaque,
                                 .inputs = 1,
                                 .dtype = small_integers_too,
                                 .shape = shape,
                                 .ragged = RaggedPolicy::Values,
                                 .ragged_rule = ragged,
                                 .element = element,
                                 .attrs = [] { return Attrs(OneHotAttrs{}); },
                                 .traits = {.never_negative_zero = NeverNegativeZero::Always}};

Tensor one_hot(const Tensor& indices, const Dim& classes, OneHotOptions options) {
  return bind(one_hot_op, {indices}, OneHotAttrs{classes, options.axis, options.dtype});
}

}  // namespace anyshape
