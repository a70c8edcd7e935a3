// Elements put together: what batch, padded_batch, bucket and group_by_shape share.
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

// DataError with the element's number where it has other fields than the first, or a field of another dtype or rank.
void require_same_fields(const char* what, const Group& group);
void require_one_kind(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers);

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
using CountBatches = std::function<std::optional<int64_t>(std::optional<int64_t> elements)>;
Dataset batches_of(Source source, std::function<NextBatch()> make, CountBatches size);
CountBatches count_of_batches(int64_t size, bool drop_remainder);
// Their number is known when they have been made; with all rows they have as many together as there are elements.
Dataset batches_of_open_number(Source source, std::function<NextBatch()> make, bool has_all_rows);

void require_batch_size(const char* what, int64_t size);

}  // namespace anyshape::data
