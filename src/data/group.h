// Elements put together: what batch, padded_batch and bucket share.
#pragma once
#include "data/dataset_impl.h"

#include <functional>
#include <vector>

namespace anyshape::data {

// Elements, and their numbers in the pass for what is wrong with them.
struct Group {
  std::vector<Example> elements = {};
  std::vector<int64_t> numbers = {};

  void add(Example element, int64_t number);
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
};

Group next_group(DatasetCursor& before, int64_t size, int64_t first);  // the next `size` elements from number `first` on, fewer at the end

// DataError where an element has no input or a field without a tensor.
void require_whole(const char* what, const Example& element, int64_t number);

// All elements as one: `join` makes one tensor of a field's tensors. Fields are counted through inputs and then targets. DataError with
// an element's number where it has no input, or other fields, dtypes or ranks than the first one.
struct FieldRows {
  std::vector<Tensor> tensors = {};
  bool are_equal = true;  // of one shape
};
using Join = std::function<Tensor(const FieldRows& rows, size_t field, bool is_row)>;
Example together(const char* what, const Group& group, const Join& join);

// DataError with the element's number for a row whose sizes, from `axis` on, are not those of the first.
void require_equal_sizes(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, int axis);

// Rows filled up at their ends to the sizes wanted, or where none is (-1, or not given) to the longest. DataError for a longer one.
Tensor padded_rows(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers,
                   const std::vector<int64_t>& wanted, double value, PaddingCount& padding);

// A dataset of batches. `make` opens a pass: what it gives is called for one batch after the other.
using NextBatch = std::function<std::optional<Example>(DatasetCursor& before, PaddingCount& padding)>;
Dataset batches_of(Source source, std::function<NextBatch()> make, std::function<std::optional<int64_t>(std::optional<int64_t>)> size);
std::function<std::optional<int64_t>(std::optional<int64_t>)> count_of_batches(int64_t size, bool drop_remainder);

void require_batch_size(const char* what, int64_t size);

}  // namespace anyshape::data
