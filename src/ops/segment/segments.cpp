// Rules and loops of rows of unequal length.
#include "ops/segment/segments.h"

#include "graph/dtype_rules.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

namespace dtype_rule {

void splits_last(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  any(op, inputs, wanted);
  const Dtype splits = inputs.back().dtype;
  if (splits != Dtype::i32 && splits != Dtype::i64) {
    throw DtypeError(fmt::format("{}: row splits are {}; expected i32 or i64.", op, to_string(splits)));
  }
  wanted.back() = Dtype::i64;
}

void number_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  splits_last(op, inputs, wanted);
  if (wanted[0] == Dtype::b8) wanted[0] = Dtype::i32;
}

void floating_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  splits_last(op, inputs, wanted);
  if (!is_floating(wanted[0])) wanted[0] = Dtype::f32;
}

void logical_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  splits_last(op, inputs, wanted);
  wanted[0] = Dtype::b8;
}

}  // namespace dtype_rule

Dim require_splits(OpCall& call) {
  constexpr std::string_view rule = "a vector of rows + 1 row splits as the last input";
  const Shape& splits = call.inputs.back().shape;
  if (splits.rank() != 1) call.fail(fmt::format("row splits have rank {}", splits.rank()), rule);
  call.require({Relation::LessEqual, 1, splits[0]}, "there is no row split", rule);
  return splits[0] - 1;
}

const Shape& require_values(OpCall& call) {
  if (call.shape(0).rank() == 0) call.fail("the values have no axis", "values [total, ...]");
  return call.shape(0);
}

Shape with_first(const Shape& shape, Dim size) {
  Shape result = shape;
  result[0] = std::move(size);
  return result;
}

Specs segment_wise_shape(OpCall& call) {
  static_cast<void>(require_splits(call));
  return {{call.inputs[0].dtype, require_values(call), {}}};
}

SplitsRule splits_of_values(const OpCall& call) { return {.total = call.shape(0)[0]}; }
SplitsRule splits_of_total(const OpCall& call) { return {.total = call.attrs_as<TotalAttrs>().total}; }

SegmentLoop::SegmentLoop(LowerCall& call, const Shape& values)
    : call_(call), total_(values[0]), width_(count_between(values, 1, values.rank())) {}

void SegmentLoop::run(const std::function<void(const Segment& segment)>& body) const {
  loop::Builder& b = call_.b;
  const int last_input = static_cast<int>(call_.call.inputs.size()) - 1;
  const int32_t splits = call_.input(last_input);
  const loop::Value rows = call_.size(call_.call.shape(last_input)[0] - 1), columns = width();
  const loop::Value work = b.floor_divide(call_.size(total_), rows);  // of a row, in the mean
  const auto bounds = [&](loop::Value row) { return std::pair{b.load(splits, row), b.load(splits, b.add(row, b.integer(1)))}; };
  if (is_flat()) {
    return b.each(b.integer(0), rows, work, [&](loop::Value row) {
      const auto [begin, end] = bounds(row);
      body({row, begin, end, b.integer(0), b.integer(1)});
    });
  }
  b.ranges(rows, columns, work, loop::Walk::Lines, [&](loop::Value row, loop::Value first, loop::Value last) {
    const auto [begin, end] = bounds(row);
    body({row, begin, end, first, last});
  });
}

loop::Value SegmentLoop::offset(loop::Value element, loop::Value column) const {
  loop::Builder& b = call_.b;
  const loop::Value line = b.multiply(element, width());
  return column ? b.add(line, column) : line;
}

}  // namespace anyshape
