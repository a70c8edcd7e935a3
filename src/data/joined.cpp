// Where all is eager and nothing follows the calls, rows are viewed and copied as they stand in memory. Else (a tape, a trace) ops do it.
#include "data/joined.h"

#include "base/checked.h"
#include "graph/bind.h"
#include "runtime/backends.h"
#include "tensor/host_data.h"
#include "tensor/make_impl.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <algorithm>

namespace anyshape::data {
namespace {

// A dense tensor with values.
bool is_plain(const Tensor& tensor) { return tensor.impl()->is_strided(); }

bool can_copy(const std::vector<Tensor>& rows) { return !are_calls_followed() && std::ranges::all_of(rows, is_plain); }

// What begins at an index of the first axis; `change` says how far it goes.
template <class Change>
Tensor view_from(const TensorImpl& from, int64_t begin, const Change& change) {
  auto view = make_impl();
  view->dtype = from.dtype;
  view->rank = from.rank;
  view->sizes = from.sizes;
  view->strides = from.strides;
  view->offset = from.offset + begin * from.strides[0];
  view->set_buffer(from.buffer());
  change(*view);
  if (view->count() == 0) view->offset = from.offset;  // strides of nothing lead anywhere
  return Tensor(std::move(view));
}

}  // namespace

bool are_calls_followed() { return &current_interpreter() != &eager_interpreter(); }

bool are_equal_from(const Tensor& a, const Tensor& b, int axis) {
  if (is_plain(a) && is_plain(b)) {
    const auto from = static_cast<size_t>(std::min<int>(axis, a.rank()));
    return std::ranges::equal(a.impl()->extents().subspan(from), b.impl()->extents().subspan(from));
  }
  const Shape left = a.shape(), right = b.shape();
  for (; axis < left.rank(); ++axis) {
    if (!left[axis].same_as(right[axis])) return false;
  }
  return true;
}

bool are_equal(const std::vector<Tensor>& rows) {
  return std::ranges::all_of(
      rows, [&](const Tensor& row) { return row.defined() && row.rank() == rows[0].rank() && are_equal_from(row, rows[0], 0); });
}

Tensor stacked(const std::vector<Tensor>& rows) {
  if (rows[0].rank() == max_rank || !can_copy(rows)) return stack(rows);
  std::vector<int64_t> sizes{static_cast<int64_t>(rows.size())};
  for (const int64_t size : rows[0].impl()->extents()) sizes.push_back(size);
  return *runtime::cpu_backend().join(rows, sizes, 0);
}

std::optional<Tensor> appended(const std::vector<Tensor>& batches) {
  if (!can_copy(batches)) return std::nullopt;
  const Tensor& first = batches[0];
  int64_t rows = 0;
  for (const Tensor& batch : batches) {
    if (batch.dtype() != first.dtype() || batch.rank() != first.rank() || !are_equal_from(batch, first, 1)) return std::nullopt;
    rows = checked_add(rows, batch.impl()->sizes[0], "number of rows");
  }
  std::vector<int64_t> sizes(first.impl()->extents().begin(), first.impl()->extents().end());
  sizes[0] = rows;
  return runtime::cpu_backend().join(batches, sizes, 0);
}

Tensor ragged_of(const std::vector<Tensor>& rows) {
  if (rows[0].rank() == max_rank || !can_copy(rows)) return ragged_from_rows(rows);
  const std::span<const int64_t> first = rows[0].impl()->extents();
  const int64_t count = static_cast<int64_t>(rows.size()) + 1;
  const Tensor splits = make_empty(Dtype::i64, {&count, 1});
  auto* split = host_data<int64_t>(splits);
  *split = 0;
  for (const Tensor& row : rows) {
    split[1] = checked_add(split[0], row.impl()->sizes[0], "ragged");
    ++split;
  }
  std::vector<int64_t> sizes(first.begin(), first.end());
  sizes[0] = *split;
  return make_ragged(*runtime::cpu_backend().join(rows, sizes, 0), make_partition(splits, "ragged"));
}

Tensor row_of(const Tensor& tensor, int64_t index) {
  const RaggedTensor* const ragged = as_ragged(tensor);
  if (ragged != nullptr) {
    const Partition& partition = *ragged->partition;
    if (are_calls_followed() || !is_plain(ragged->values) || !partition.is_concrete()) return row(tensor, index);
    const auto number = static_cast<size_t>(index);
    const int64_t begin = partition.host_splits()[number], end = partition.host_splits()[number + 1];
    return view_from(*ragged->values.impl(), begin, [&](TensorImpl& row) { row.sizes[0] = end - begin; });
  }
  if (are_calls_followed() || !is_plain(tensor)) return squeeze(slice(tensor, {{.begin = index, .end = index + 1}}), {0});
  return view_from(*tensor.impl(), index, [](TensorImpl& row) {
    std::shift_left(row.sizes.begin(), row.sizes.end(), 1);
    std::shift_left(row.strides.begin(), row.strides.end(), 1);
    --row.rank;
  });
}

}  // namespace anyshape::data
