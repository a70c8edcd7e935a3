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

// Values in the rows of a partition; ShapeError, or a check, where their number is not its total.
Tensor in_rows(std::string_view op, const Tensor& values, const PartitionPointer& partition);

Tensor lengths_of(const Partition& partition);    // i64[rows]
Tensor row_ids_of(const Partition& partition);    // i64[total]
Tensor starts_of(const Partition& partition);     // i64[rows]
Tensor positions_of(const Partition& partition);  // i64[total], each element's place in its row

}  // namespace anyshape
