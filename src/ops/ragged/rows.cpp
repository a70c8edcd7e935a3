// The rows of a ragged tensor as tensors of their own: views of its values.
#include "ops/movement/slice.h"
#include "ops/ragged/partition.h"
#include "ops/ragged/rules.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

std::span<const int64_t> require_host_splits(std::string_view op, const Tensor& x) {
  const Partition& partition = *require_ragged(op, x).partition;
  if (partition.is_concrete()) return partition.host_splits();
  throw TraceError(
      fmt::format("{}: the rows of {} have no lengths inside a traced function; expected a tensor outside a trace. Compute on all rows at "
                  "once, or call it outside.",
                  op, describe(x)));
}

Tensor part(const Tensor& values, int64_t begin, int64_t end) { return slice_along(values, 0, begin, end - begin); }

}  // namespace

Tensor row_under_name(std::string_view op, const Tensor& x, int64_t index) {
  const std::span<const int64_t> splits = require_host_splits(op, x);
  const int64_t rows = static_cast<int64_t>(splits.size()) - 1;
  if (index < -rows || index >= rows) {
    throw ShapeError(fmt::format("{}: row {} of {}; expected {} <= row < {}.", op, index, describe(x), -rows, rows));
  }
  const int64_t chosen = index < 0 ? index + rows : index;
  return part(x.values(), splits[chosen], splits[chosen + 1]);
}

Tensor row(const Tensor& x, int64_t index) { return row_under_name("row", x, index); }

std::vector<Tensor> to_rows(const Tensor& x) {
  const std::span<const int64_t> splits = require_host_splits("to_rows", x);
  std::vector<Tensor> rows;
  for (size_t i = 0; i + 1 < splits.size(); ++i) rows.push_back(part(x.values(), splits[i], splits[i + 1]));
  return rows;
}

}  // namespace anyshape
