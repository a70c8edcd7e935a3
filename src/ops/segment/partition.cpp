// Row splits, seen from the rows (starts, lengths) and from the elements (row ids, positions).
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

Specs rows_shape(OpCall& call) { return {{Dtype::i64, {require_splits(call)}, {}}}; }

loop::Value start_element(ElementCall& call) { return call.input(0, call.index); }

loop::Value length_element(ElementCall& call) {
  const loop::Value next[] = {call.b.add(call.index[0], call.b.integer(1))};
  return call.b.subtract(call.input(0, next), call.input(0, call.index));
}

constexpr OpDef rows_op(std::string_view name, ElementRule element) {
  return {.name = name, .kind = OpKind::Movement, .inputs = 1, .dtype = dtype_rule::splits_last, .shape = rows_shape, .element = element};
}

Specs row_ids_shape(OpCall& call) {
  const Dim& total = call.attrs_as<TotalAttrs>().total;
  static_cast<void>(require_splits(call));
  call.require({Relation::LessEqual, 0, total}, fmt::format("the number of elements is {}", to_string(total)), "a total of at least 0");
  return {{Dtype::i64, {total}, {}}};
}

void lower_row_ids(LowerCall& call) {
  loop::Builder& b = call.b;
  const int32_t y = call.output(0);
  SegmentLoop(call, call.outputs[0].shape).run([&](const Segment& segment) {
    b.elements(segment.begin, segment.end, [&](loop::Value i) { b.store(y, i, segment.row); });
  });
}

}  // namespace

constinit const OpDef row_starts_op = rows_op("row_starts", start_element);
constinit const OpDef row_lengths_op = rows_op("row_lengths", length_element);
constinit const OpDef row_ids_op{.name = "row_ids",
                                 .kind = OpKind::Index,
                                 .inputs = 1,
                                 .dtype = dtype_rule::splits_last,
                                 .shape = row_ids_shape,
                                 .lower = lower_row_ids,
                                 .whole_inputs = 0b1,
                                 .attrs = [] { return Attrs(TotalAttrs{}); },
                                 .splits = splits_of_total};

Tensor segment::row_starts(const Tensor& splits) { return bind(row_starts_op, {splits}); }
Tensor segment::row_lengths(const Tensor& splits) { return bind(row_lengths_op, {splits}); }
Tensor segment::row_ids(const Tensor& splits, const Dim& total) { return bind(row_ids_op, {splits}, TotalAttrs{total}); }

Tensor segment::row_positions(const Tensor& splits, const Dim& total) {
  const NamedCall call("row_positions", splits);
  const Tensor starts = repeat(row_starts(splits), splits, total);
  return arange(total, {.dtype = Dtype::i64}) - starts;
}

Tensor segment::splits_from_lengths(const Tensor& lengths) {
  const NamedCall call("splits_from_lengths", lengths);
  if (lengths.rank() != 1) call.fail("lengths are no vector", "one length per row");
  if (lengths.dtype() != Dtype::i32 && lengths.dtype() != Dtype::i64) {
    throw DtypeError(fmt::format("splits_from_lengths: lengths are {}; expected i32 or i64.", to_string(lengths.dtype())));
  }
  return anyshape::concat({zeros({1}, {.dtype = Dtype::i64}), anyshape::cumsum(cast(lengths, Dtype::i64))});
}

}  // namespace anyshape
