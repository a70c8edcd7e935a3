// Elements put together: what batch, padded_batch and bucket share.
#pragma once
#include "data/dataset_impl.h"

#include <functional>
#include <vector>

namespace anyshape::data {

using Group = std::vector<Example>;

Group next_group(DatasetCursor& before, int64_t size);  // the next `size` elements, fewer at the end

// All elements as one: `join` makes one tensor of a field's tensors. Fields are counted through inputs and then targets. `first` is the
// number of the first element: DataError with an element's number where it has other fields than the first one.
using Join = std::function<Tensor(const std::vector<Tensor>& rows, size_t field, bool is_row)>;
Example together(const char* what, const Group& group, int64_t first, const Join& join);

// Rows filled up at their ends to the sizes wanted, or where none is (-1, or not given) to the longest. DataError for a longer one.
Tensor padded_rows(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& wanted, double value,
                   PaddingCount& padding);

// A dataset of batches. `make` opens a pass: what it gives is called for one batch after the other.
using NextBatch = std::function<std::optional<Example>(DatasetCursor& before, PaddingCount& padding)>;
Dataset batches_of(Source source, std::function<NextBatch()> make, std::function<std::optional<int64_t>(std::optional<int64_t>)> size);
std::function<std::optional<int64_t>(std::optional<int64_t>)> count_of_batches(int64_t size, bool drop_remainder);

void require_batch_size(const char* what, int64_t size);

}  // namespace anyshape::data
