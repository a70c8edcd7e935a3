// same_rows: values, the splits of their rows, the splits they must be equal to -> the values. How rows that only a run knows are compared.
#include "graph/bind.h"
#include "graph/ragged.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  static_cast<void>(require_splits(call));
  if (call.shape(1).rank() != 1) call.fail("row splits have another rank", "two vectors of row splits");
  call.require({Relation::Equal, call.shape(1)[0], call.shape(2)[0]}, "numbers of rows differ", "ragged operands with equal rows");
  return {{call.inputs[0].dtype, require_values(call), {}}};
}

void splits_twice(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::splits_last(op, inputs, wanted);
  dtype_rule::splits_last(op, inputs.first(2), wanted.first(2));
}

SplitsRule rows_of_others(const OpCall& call) { return {.total = call.shape(0)[0], .equal_to = 1}; }

std::vector<Tensor> gradient(const GradientCall& call) { return {call.dys[0], {}, {}}; }

}  // namespace

constinit const OpDef same_rows_op{.name = "same_rows",
                                   .kind = OpKind::Index,
                                   .inputs = 3,
                                   .dtype = splits_twice,
                                   .shape = shape,
                                   .gradient = gradient,
                                   .element = [](ElementCall& call) { return call.operand(0); },
                                   .whole_inputs = 0b110,
                                   .splits = rows_of_others};

Tensor same_rows(const Tensor& values, const Tensor& splits, const Tensor& expected) {
  return bind(same_rows_op, {values, splits, expected});
}

}  // namespace anyshape
