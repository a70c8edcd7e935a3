// Slices of ragged tensors: of rows, inside every row, and of the values' own axes.
#include "ops/ragged/rules.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

bool is_whole(const SliceRange& range) { return !range.begin && !range.end && range.step == 1; }

// The rows of the range, in its order.
Tensor slice_rows(const Tensor& x, const SliceRange& range) {
  const auto& [values, partition] = *as_ragged(x);
  const Tensor chosen = slice(arange(partition->rows, {.dtype = Dtype::i64}), {range});
  return take(x, chosen);
}

// A bound in every row: negative ones count from its end, and what lies outside is moved to the nearest end.
Tensor bound_in_rows(const std::optional<Dim>& bound, const Tensor& lengths, const Tensor& whole, int64_t lowest) {
  if (!bound) return whole;
  const int64_t index = bound->value();
  const Tensor least = cast(lowest, Dtype::i64), most = lengths + lowest;
  return index < 0 ? maximum(lengths + index, least) : minimum(cast(index, Dtype::i64), most);
}

// As in NumPy, in every row for itself.
Tensor slice_in_rows(const Tensor& x, const SliceRange& range) {
  const auto& [values, partition] = *as_ragged(x);
  if (range.step == 0) throw ShapeError("slice: the step along axis 1 is 0; expected a step other than 0.");
  for (const std::optional<Dim>& bound : {range.begin, range.end}) {
    if (bound && !bound->is_constant())
      throw ShapeError(fmt::format("slice: the bound {} along the ragged axis is symbolic; expected a number.", to_string(*bound)));
  }
  const bool forward = range.step > 0;
  if (!forward && range.step == -1 && !range.begin && !range.end) {
    return make_ragged(segment::flip(values, partition->splits), partition);
  }
  const Tensor lengths = segment::row_lengths(partition->splits);
  const Tensor zero = cast(0, Dtype::i64), before = zero - 1, last = lengths - 1;
  const int64_t lowest = forward ? 0 : -1;
  const Tensor begin = bound_in_rows(range.begin, lengths, forward ? zero : last, lowest);
  const Tensor end = bound_in_rows(range.end, lengths, forward ? lengths : before, lowest);
  const Tensor step = cast(range.step, Dtype::i64), stride = cast(forward ? range.step : -range.step, Dtype::i64);
  const Tensor distance = maximum(forward ? end - begin : begin - end, zero);
  const Tensor chosen = broadcast_to(floor_divide(distance + (stride - 1), stride), lengths.shape());
  const PartitionPointer result =
      partition_of_result(segment::splits_from_lengths(chosen), partition->rows,
                          sum_of("slice", chosen, "Inside one, slice the padded rows: slice(to_padded(x, {.length = n}), ...)."), 0);
  const Tensor first = broadcast_to(segment::row_starts(partition->splits) + begin, lengths.shape());
  const Tensor indices =
      segment::repeat(first, result->splits, result->total) + segment::row_positions(result->splits, result->total) * step;
  return make_ragged(take(values, indices), result);
}

}  // namespace

Tensor slice_ragged(const Tensor& x, const std::vector<SliceRange>& ranges) {
  if (static_cast<int>(ranges.size()) > x.rank()) {
    throw ShapeError(
        fmt::format("slice: {} ranges for {} axes: x is {}; expected at most one range per axis.", ranges.size(), x.rank(), describe(x)));
  }
  Tensor result = x;
  if (!ranges.empty() && !is_whole(ranges[0])) result = slice_rows(result, ranges[0]);
  if (ranges.size() > 1 && !is_whole(ranges[1])) result = slice_in_rows(result, ranges[1]);
  if (ranges.size() <= 2) return result;
  std::vector<SliceRange> own(ranges.begin() + 1, ranges.end());
  own[0] = {};
  return on_values(result, [&](const Tensor& values) { return slice(values, own); });
}

}  // namespace anyshape
