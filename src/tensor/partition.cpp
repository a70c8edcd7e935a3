// Partitions and the ragged tensors made of them.
#include "tensor/partition.h"

#include "shape/dim_node.h"
#include "tensor/host_data.h"
#include "tensor/make_impl.h"
#include "tensor/recycling_allocator.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

std::span<const int64_t> numbers_of(const Tensor& splits) {
  const TensorImpl& impl = *splits.impl();
  return {host_data<const int64_t>(impl), static_cast<size_t>(impl.sizes[0])};
}

void require_splits(std::span<const int64_t> splits, std::string_view place) {
  if (splits.front() != 0) {
    throw DataError(fmt::format("{}: the first split is {}; expected 0, where the first row begins.", place, splits.front()));
  }
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    if (splits[row] <= splits[row + 1]) continue;
    throw DataError(
        fmt::format("{}: the splits decrease: split {} is {}, split {} is {}; expected every row to end where it begins or later.", place,
                    row, splits[row], row + 1, splits[row + 1]));
  }
}

}  // namespace

// Here, where what a ragged tensor holds is known.
TensorImpl::TensorImpl() = default;
std::shared_ptr<TensorImpl> make_impl() { return std::allocate_shared<TensorImpl>(RecyclingAllocator<TensorImpl>()); }
TensorImpl::~TensorImpl() = default;
void TensorImpl::become(TracedTensor tensor) { content_.emplace<of_trace>(std::make_unique<const TracedTensor>(std::move(tensor))); }
void TensorImpl::become(RaggedTensor tensor) { content_.emplace<of_rows>(std::make_unique<const RaggedTensor>(std::move(tensor))); }
void TensorImpl::become(PlaceholderTensor tensor) {
  content_.emplace<of_model>(std::make_unique<const PlaceholderTensor>(std::move(tensor)));
}

bool Partition::is_concrete() const { return !is_traced(splits); }
std::span<const int64_t> Partition::host_splits() const { return numbers_of(splits); }

std::shared_ptr<const Partition> make_partition(const Tensor& splits, std::string_view place) {
  const TensorImpl& impl = require_eager(splits, place);
  if (impl.dtype != Dtype::i64 || impl.rank != 1 || impl.sizes[0] == 0) {
    throw ShapeError(fmt::format("{}: the splits are {}; expected i64[rows + 1].", place, describe(splits)));
  }
  auto partition = std::make_shared<Partition>();
  partition->splits = contiguous(splits);
  const std::span<const int64_t> numbers = partition->host_splits();
  require_splits(numbers, place);
  int64_t shortest = numbers.size() > 1 ? numbers[1] : 0, longest = shortest;
  for (size_t row = 1; row + 1 < numbers.size(); ++row) {
    shortest = std::min(shortest, numbers[row + 1] - numbers[row]);
    longest = std::max(longest, numbers[row + 1] - numbers[row]);
  }
  partition->rows = static_cast<int64_t>(numbers.size()) - 1;
  partition->total = numbers.back();
  partition->shortest = shortest;
  partition->longest = longest;
  partition->axis = make_ragged_axis({.name = {}, .options = {}, .shortest = shortest, .longest = longest});
  return partition;
}

std::shared_ptr<const Partition> make_traced_partition(Tensor splits, Dim rows, Dim total, Dim shortest, std::optional<Dim> longest,
                                                       std::string name) {
  const Dim most = longest.value_or(total);
  const Dim axis = make_ragged_axis({.name = std::move(name), .options = {}, .shortest = shortest, .longest = most});
  return std::make_shared<const Partition>(Partition{.splits = std::move(splits),
                                                     .rows = std::move(rows),
                                                     .total = std::move(total),
                                                     .shortest = std::move(shortest),
                                                     .longest = std::move(longest),
                                                     .axis = axis});
}

bool have_equal_splits(const Partition& a, const Partition& b) {
  return &a == &b || a.splits.impl() == b.splits.impl() || std::ranges::equal(a.host_splits(), b.host_splits());
}

Tensor make_ragged(const Tensor& values, std::shared_ptr<const Partition> partition) {
  if (values.rank() == 0 || values.rank() == max_rank || as_ragged(values) != nullptr) {
    throw ShapeError(
        fmt::format("ragged: the values are {}; expected a dense tensor [total, ...] of rank 1 to {}.", describe(values), max_rank - 1));
  }
  auto impl = make_impl();
  impl->dtype = values.dtype();
  impl->rank = static_cast<int8_t>(values.rank() + 1);
  impl->become(RaggedTensor{values, std::move(partition)});
  return Tensor(std::move(impl));
}

const RaggedTensor* as_ragged(const Tensor& tensor) { return tensor.defined() ? tensor.impl()->ragged() : nullptr; }

}  // namespace anyshape
