// packed_rows: row splits -> order and ranks of rows, positions and packed indices of values, rows per step; and the number of steps, which is the
// longest row's length. A counting sort: as many operations as there are values, rows and steps.
#include "ops/segment/packed_rows.h"

#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

struct PackedRowsAttrs {
  Dim total;
  Dim length;                 // of the longest row,
  bool finds_length = false;  // unless it is found in the splits
  bool backwards = false;
  template <class V>
  void visit(V& v) {
    v("total", total);
    v("length", length);
    v("finds_length", finds_length);
    v("backwards", backwards);
  }
};

Specs shape(OpCall& call) {
  const PackedRowsAttrs& attrs = call.attrs_as<PackedRowsAttrs>();
  const Dim rows = require_splits(call);
  const auto require_size = [&](const Dim& size, const char* what) {
    call.require({Relation::LessEqual, 0, size}, fmt::format("{} is {}", what, to_string(size)), "a number of at least 0");
  };
  require_size(attrs.total, "the number of elements");
  require_size(attrs.length, "the length of the longest row");
  const Dim steps = attrs.finds_length ? call.make_size(attrs.total) : attrs.length;
  const auto integers = [](const Dim& size) { return TensorSpec{Dtype::i64, {size}, {}}; };
  return {integers(rows), integers(rows), integers(attrs.total), integers(attrs.total), integers(steps), {Dtype::i64, {}, {}}};
}

void lower(LowerCall& call) {
  const PackedRowsAttrs& attrs = call.call.attrs_as<PackedRowsAttrs>();
  loop::Builder& b = call.b;
  const int32_t splits = call.input(0);
  const int32_t order = call.output(0), ranks = call.output(1), positions = call.output(2), indices = call.output(3);
  const int32_t counts = call.output(4), longest = call.output(5);
  const Dim bound = attrs.finds_length ? attrs.total : attrs.length;
  const int32_t next = call.scratch(Dtype::i64, bound + 1);  // per length: how many rows have it, then the index of the next one of them
  const int32_t starts = call.scratch(Dtype::i64, bound);    // per step: its first index
  const loop::Value zero = b.integer(0), one = b.integer(1), rows = call.size(call.call.shape(0)[0] - 1);
  const auto begin_of = [&](loop::Value row) { return b.load(splits, row); };
  const auto end_of = [&](loop::Value row) { return b.load(splits, b.add(row, one)); };
  const auto length_of = [&](loop::Value row) { return b.subtract(end_of(row), begin_of(row)); };

  const loop::Value found = b.maximum(b.reduce(zero, rows, loop::Combine::Maximum, length_of), zero);
  const loop::Value steps = attrs.finds_length ? found : call.size(attrs.length);
  b.store(longest, zero, steps);
  b.serial_for(zero, b.add(steps, one), [&](loop::Value length) { b.store(next, length, zero); });
  // A row that is longer than the length given would be the caller's mistake; nothing may be written outside for it.
  const auto kept_length = [&](loop::Value row) { return b.minimum(length_of(row), steps); };
  b.serial_for(zero, rows, [&](loop::Value row) {
    const loop::Value length = kept_length(row);
    b.store(next, length, b.add(b.load(next, length), one));
  });
  const loop::Value initial[] = {rows, zero};
  static_cast<void>(
      b.carry_for(zero, steps, initial, [&](loop::Value step, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value active = b.subtract(carried[0], b.load(next, step));  // without those that end here
        b.store(next, step, active);
        b.store(counts, step, active);
        b.store(starts, step, carried[1]);
        return {active, b.add(carried[1], active)};
      }));
  b.store(next, steps, zero);
  b.serial_for(zero, rows, [&](loop::Value row) {
    const loop::Value length = kept_length(row), rank = b.load(next, length);
    b.store(next, length, b.add(rank, one));
    b.store(order, rank, row);
    b.store(ranks, row, rank);
    b.serial_for(zero, length, [&](loop::Value step) {
      const loop::Value position = attrs.backwards ? b.subtract(b.subtract(end_of(row), one), step) : b.add(begin_of(row), step);
      const loop::Value index = b.add(b.load(starts, step), rank);
      b.store(positions, index, position);
      b.store(indices, position, index);
    });
  });
}

}  // namespace

constinit const OpDef packed_rows_op{
    .name = "packed_rows",
    .kind = OpKind::Index,
    .inputs = 1,
    .dtype = dtype_rule::splits_last,
    .shape = shape,
    .lower = lower,
    .whole_inputs = 0b1,
    .attrs = [] { return Attrs(PackedRowsAttrs{}); },
    .splits = [](const OpCall& call) { return SplitsRule{.total = call.attrs_as<PackedRowsAttrs>().total}; }};

PackedRows packed_rows(const Partition& partition, bool backwards) {
  const PackedRowsAttrs attrs{
      .total = partition.total, .length = partition.longest.value_or(0), .finds_length = !partition.longest, .backwards = backwards};
  const std::vector<Tensor> found = bind_all(packed_rows_op, {&partition.splits, 1}, attrs);
  return {.order = found[0], .ranks = found[1], .positions = found[2], .indices = found[3], .counts = found[4]};
}

}  // namespace anyshape
