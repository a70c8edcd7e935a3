// Partitions from tensors and sizes, with values or inside a trace, and what is computed from them.
#pragma once
#include "tensor/partition.h"

#include <string_view>
#include <vector>

namespace anyshape {

using PartitionPointer = std::shared_ptr<const Partition>;

const RaggedTensor& require_ragged(std::string_view op, const Tensor& x);  // ArgumentError for a dense tensor

// i64 vectors; `total` is what they must lead to. DataError where they do not: at once, or inside a trace when it runs.
PartitionPointer partition_of_splits(std::string_view op, const Tensor& splits, const Dim& total);
PartitionPointer partition_of_lengths(std::string_view op, const Tensor& lengths, const Dim& total);
PartitionPointer partition_of_sizes(const std::vector<Dim>& lengths);

// Of splits that an op has made: exact where they have values.
PartitionPointer partition_of_result(const Tensor& splits, const Dim& rows, const Dim& total, const Dim& shortest,
                                     const std::optional<Dim>& longest = std::nullopt);

// Bounds of the lengths of rows from several sources. Many that are symbolic would make expressions without an end: then nothing is known.
struct LengthBounds {
  Dim shortest = 0;
  std::optional<Dim> longest = std::nullopt;
};
LengthBounds bounds_of(std::span<const Dim> shortest, std::span<const Dim> longest);

// i64[rows] -> the elements of all rows. Inside a trace nobody knows: TraceError, which ends with what to use instead there.
Dim sum_of(std::string_view op, const Tensor& lengths, std::string_view instead);

// Values in the rows of a partition; ShapeError, or a check, where their number is not its total.
Tensor in_rows(std::string_view op, const Tensor& values, const PartitionPointer& partition);

}  // namespace anyshape
