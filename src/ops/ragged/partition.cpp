// Partitions from tensors and sizes.
#include "ops/ragged/partition.h"

#include "base/checked.h"
#include "graph/layer_path.h"
#include "ops/source/size.h"
#include "ops/total.h"
#include "shape/prove.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

void require_total(std::string_view op, const Partition& partition, const Dim& total) {
  if (proves_equal(partition.total, total) != false) return;  // an open one is checked by `in_rows`
  throw ShapeError(fmt::format("{}: the rows have {} elements, the values {}; expected equal numbers.", op, to_string(partition.total),
                               to_string(total)));
}

void require_lengths(std::string_view op, const Tensor& lengths) {
  for (const int64_t length : lengths.to_vector<int64_t>()) {
    if (length < 0) throw DataError(fmt::format("{}: a row has the length {}; expected lengths of at least 0.", op, length));
  }
}

}  // namespace

const RaggedTensor& require_ragged(std::string_view op, const Tensor& x) {
  if (const RaggedTensor* ragged = as_ragged(x)) return *ragged;
  throw ArgumentError(fmt::format("{}: the tensor is {}, which is dense; expected a ragged one.", op, describe(x)));
}

PartitionPointer partition_of_splits(std::string_view op, const Tensor& splits, const Dim& total) {
  if (is_traced(splits)) return make_traced_partition(splits, splits.shape()[0] - 1, total, 0, std::nullopt, "");
  PartitionPointer partition = make_partition(splits, op);
  require_total(op, *partition, total);
  return partition;
}

PartitionPointer partition_of_lengths(std::string_view op, const Tensor& lengths, const Dim& total) {
  if (!is_traced(lengths)) require_lengths(op, lengths);
  return partition_of_splits(op, segment::splits_from_lengths(lengths), total);
}

LengthBounds bounds_of(std::span<const Dim> shortest, std::span<const Dim> longest) {
  constexpr size_t most_symbolic = 16;
  const auto is_number = [](const Dim& size) { return size.is_constant(); };
  const bool is_worth = std::max(shortest.size(), longest.size()) <= most_symbolic;
  LengthBounds bounds;
  if (!shortest.empty() && (is_worth || std::ranges::all_of(shortest, is_number))) {
    bounds.shortest = shortest[0];
    for (const Dim& size : shortest) bounds.shortest = min(bounds.shortest, size);
  }
  if (!longest.empty() && (is_worth || std::ranges::all_of(longest, is_number))) {
    bounds.longest = longest[0];
    for (const Dim& size : longest) bounds.longest = max(*bounds.longest, size);
  }
  return bounds;
}

PartitionPointer partition_of_sizes(const std::vector<Dim>& lengths) {
  const int64_t rows = static_cast<int64_t>(lengths.size());
  if (!std::ranges::all_of(lengths, [](const Dim& length) { return length.is_constant(); })) {
    std::vector<Tensor> sizes;
    for (const Dim& length : lengths) sizes.push_back(size_tensor(length, Dtype::i64));
    const LengthBounds bounds = bounds_of(lengths, lengths);
    return make_traced_partition(segment::splits_from_lengths(stack(sizes)), rows, total_of(lengths), bounds.shortest, bounds.longest, "");
  }
  std::vector<int64_t> splits{0};
  splits.reserve(lengths.size() + 1);
  for (const Dim& length : lengths) splits.push_back(checked_add(splits.back(), length.value(), "ragged"));
  return make_partition(tensor(splits, {rows + 1}), "ragged");
}

PartitionPointer partition_of_result(const Tensor& splits, const Dim& rows, const Dim& total, const Dim& shortest,
                                     const std::optional<Dim>& longest) {
  return is_traced(splits) ? make_traced_partition(splits, rows, total, shortest, longest, "") : make_partition(splits, "ragged");
}

Dim sum_of(std::string_view op, const Tensor& lengths, std::string_view instead) {
  if (!is_traced(lengths)) return sum(lengths).item<int64_t>();
  throw TraceError(
      fmt::format("{}: the number of elements of the result is known by its data only; expected a call outside a traced function. {}{}", op,
                  instead, current_place()));
}

Tensor in_rows(std::string_view op, const Tensor& values, const PartitionPointer& partition) {
  require_total(op, *partition, values.shape()[0]);
  Shape shape = values.shape();
  shape[0] = partition->total;
  return make_ragged(reshape(values, shape), partition);
}

Tensor row_lengths(const Tensor& x) { return segment::row_lengths(require_ragged("row_lengths", x).partition->splits); }

Tensor row_ids(const Tensor& x) {
  const Partition& partition = *require_ragged("row_ids", x).partition;
  return segment::row_ids(partition.splits, partition.total);
}

Tensor row_positions(const Tensor& x) {
  const PartitionPointer& partition = require_ragged("row_positions", x).partition;
  return make_ragged(segment::row_positions(partition->splits, partition->total), partition);
}

}  // namespace anyshape
