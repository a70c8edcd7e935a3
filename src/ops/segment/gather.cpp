// Other rows of the same values: runs, chosen rows, rows joined. All are positions of elements, read by `take`.
#include "graph/named_call.h"
#include "ops/segment/segments.h"
#include "ops/source/size.h"
#include "shape/prove.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

void require_parts(std::string_view op, const std::vector<segment::Rows>& parts) {
  if (parts.empty()) throw ArgumentError(fmt::format("{}: got no rows; expected at least one part.", op));
  for (const segment::Rows& part : parts) {
    if (!part.values.defined() || !part.splits.defined()) {
      throw ArgumentError(fmt::format("{}: a part is an empty tensor handle; expected values and splits.", op));
    }
  }
}

Tensor all_values(const std::vector<segment::Rows>& parts) {
  std::vector<Tensor> values;
  for (const segment::Rows& part : parts) values.push_back(part.values);
  return concat(values);
}

}  // namespace

Tensor segment::gather_runs(const Tensor& values, const Tensor& starts, const Tensor& splits, const Dim& total) {
  const Tensor shift = cast(starts, Dtype::i64) - row_starts(splits);
  return take(values, arange(total, {.dtype = Dtype::i64}) + repeat(shift, splits, total), {.axis = 0});
}

segment::Rows segment::gather_rows(const Rows& rows, const Tensor& indices, const Dim& total) {
  const NamedCall call("segment::gather_rows", rows.values, rows.splits, indices);
  const Tensor splits = splits_from_lengths(take(row_lengths(rows.splits), indices));
  return {gather_runs(rows.values, take(row_starts(rows.splits), indices), splits, total), splits};
}

segment::Rows segment::concat(const std::vector<Rows>& parts) {
  require_parts("segment::concat", parts);
  std::vector<Tensor> lengths;
  for (const Rows& part : parts) lengths.push_back(row_lengths(part.splits));
  return {all_values(parts), splits_from_lengths(anyshape::concat(lengths))};
}

// Every row of the result is made of runs, one of each part: as many as there are rows in all parts together.
segment::Rows segment::concat_each_row(const std::vector<Rows>& parts) {
  require_parts("segment::concat_each_row", parts);
  std::vector<Tensor> starts, lengths;
  Dim total = 0;
  for (const Rows& part : parts) {
    starts.push_back(row_starts(part.splits) + size_tensor(total, Dtype::i64));
    lengths.push_back(row_lengths(part.splits));
    const Dim rows = lengths.back().shape()[0], wanted = lengths[0].shape()[0];
    if (!proves_equal(rows, wanted).value_or(true)) {
      throw ShapeError(fmt::format("segment::concat_each_row: parts have {} and {} rows; expected as many rows in each part.",
                                   to_string(wanted), to_string(rows)));
    }
    total = total + part.values.shape()[0];
  }
  const Tensor by_row = stack(lengths, {.axis = 1});
  const Shape runs = {by_row.shape()[0] * by_row.shape()[1]};
  const Tensor run_starts = reshape(stack(starts, {.axis = 1}), runs);
  return {gather_runs(all_values(parts), run_starts, splits_from_lengths(reshape(by_row, runs)), total),
          splits_from_lengths(anyshape::sum(by_row, {.axes = {1}}))};
}

}  // namespace anyshape
