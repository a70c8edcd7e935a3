// segment_repeat: x [rows, ...], row ids and row splits -> [total, ...]: for each element what its row has. It fuses with what uses it, as it
// reads the row ids, which one kernel makes for all users of a partition.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const Shape& x = require_values(call);
  call.require({Relation::Equal, x[0], require_splits(call)}, "there is not one element per row", "a.shape[0] + 1 row splits");
  if (call.shape(1).rank() != 1) call.fail("row ids are no vector", "one row id per value");
  return {{call.inputs[0].dtype, with_first(x, call.shape(1)[0]), {}}};
}

// Ids come from row_ids, which has checked the splits; that none reads outside must not depend on it.
loop::Value element(ElementCall& call) {
  loop::Builder& b = call.b;
  std::vector<loop::Value> index(call.index.begin(), call.index.end());
  const loop::Value last = b.subtract(call.size(call.call.shape(0)[0]), b.integer(1));
  index[0] = b.maximum(b.minimum(call.input(1, call.index.first(1)), last), b.integer(0));
  return call.input(0, index);
}

std::vector<Tensor> gradient(const GradientCall& call) { return {segment::sum(call.dys[0], call.inputs[2]), {}, {}}; }

void with_row_ids(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::splits_last(op, inputs, wanted);
  wanted[1] = Dtype::i64;
}

}  // namespace

constinit const OpDef segment_repeat_op{.name = "segment_repeat",
                                        .kind = OpKind::Index,
                                        .inputs = 3,
                                        .dtype = with_row_ids,
                                        .shape = shape,
                                        .gradient = gradient,
                                        .element = element,
                                        .whole_inputs = 0b111};

Tensor segment::repeat(const Tensor& x, const Tensor& splits, const Dim& total) {
  const NamedCall call("segment::repeat", x, splits);
  return bind(segment_repeat_op, {x, row_ids(splits, total), splits});
}

}  // namespace anyshape
