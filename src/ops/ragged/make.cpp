// Ragged tensors from values and where their rows begin.
#include "ops/ragged/partition.h"
#include "shape/prove.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// A vector of integers as i64.
Tensor integers(std::string_view op, std::string_view name, const Tensor& x) {
  if (x.is_ragged() || x.rank() != 1) throw ShapeError(fmt::format("{}: the {} are {}; expected a vector.", op, name, describe(x)));
  if (x.dtype() != Dtype::i32 && x.dtype() != Dtype::i64)
    throw DtypeError(fmt::format("{}: the {} are {}; expected i32 or i64.", op, name, describe(x)));
  return cast(x, Dtype::i64);
}

Tensor require_values(std::string_view op, const Tensor& values) {
  if (!values.is_ragged() && values.rank() >= 1 && values.rank() < max_rank) return values;
  throw ShapeError(
      fmt::format("{}: the values are {}; expected a dense tensor [total, ...] of rank 1 to {}.", op, describe(values), max_rank - 1));
}

}  // namespace

Tensor ragged_from_splits(const Tensor& values, const Tensor& splits) {
  constexpr std::string_view op = "ragged_from_splits";
  require_values(op, values);
  return in_rows(op, values, partition_of_splits(op, integers(op, "splits", splits), values.shape()[0]));
}

Tensor ragged_from_lengths(const Tensor& values, const Tensor& lengths) {
  constexpr std::string_view op = "ragged_from_lengths";
  require_values(op, values);
  return in_rows(op, values, partition_of_lengths(op, integers(op, "lengths", lengths), values.shape()[0]));
}

Tensor ragged_from_rows(const std::vector<Tensor>& rows) {
  constexpr std::string_view op = "ragged_from_rows";
  if (rows.empty()) throw ArgumentError("ragged_from_rows: there are no rows, and so no dtype; expected at least one.");
  const Tensor& first = rows[0];
  const Shape first_shape = first.defined() ? first.shape() : Shape();
  std::vector<Dim> lengths;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto both = [&] { return fmt::format("row {} is {}, row 0 is {}", i, describe(rows[i]), describe(first)); };
    if (!rows[i].defined()) throw ArgumentError(fmt::format("{}: row {} is an empty tensor handle.", op, i));
    if (rows[i].rank() == 0 || rows[i].is_ragged())
      throw ShapeError(fmt::format("{}: row {} is {}; expected dense rows [length, ...].", op, i, describe(rows[i])));
    if (rows[i].dtype() != first.dtype()) throw DtypeError(fmt::format("{}: dtypes differ: {}; expected one dtype.", op, both()));
    if (rows[i].rank() != first.rank()) throw ShapeError(fmt::format("{}: ranks differ: {}; expected one rank.", op, both()));
    const Shape shape = rows[i].shape();
    for (int axis = 1; axis < shape.rank(); ++axis) {
      if (proves_equal(shape[axis], first_shape[axis]) != false) continue;  // an open one is concat's to check
      throw ShapeError(
          fmt::format("{}: sizes along axis {} differ: {}; expected rows that differ in their first size only.", op, axis, both()));
    }
    lengths.push_back(shape[0]);
  }
  return in_rows(op, require_values(op, rows.size() == 1 ? first : concat(rows)), partition_of_sizes(lengths));
}

Tensor with_rows_of(const Tensor& values, const Tensor& ragged) {
  constexpr std::string_view op = "with_rows_of";
  return in_rows(op, require_values(op, values), require_ragged(op, ragged).partition);
}

}  // namespace anyshape
