// Ragged tensors from host numbers.
#include "base/checked.h"
#include "tensor/host_data.h"
#include "tensor/host_types.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/ragged.h>

#include <algorithm>

namespace anyshape {
namespace {

template <class T, class Rows>
Tensor copy_rows(const Rows& rows) {
  std::vector<int64_t> splits{0};
  for (const auto& row : rows) splits.push_back(checked_add(splits.back(), static_cast<int64_t>(row.size()), "ragged"));
  const int64_t total = splits.back(), split_count = static_cast<int64_t>(splits.size());
  const Tensor values = make_empty(dtype_of<T>, {&total, 1}), row_splits = make_empty(Dtype::i64, {&split_count, 1});
  auto* to = host_data<T>(values);
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  std::ranges::copy(splits, host_data<int64_t>(row_splits));
  return make_ragged(values, make_partition(row_splits, "ragged"));
}

}  // namespace
}  // namespace anyshape

// Instances of a function template are visible only where its definition stands in a visible block.
namespace [[gnu::visibility("default")]] anyshape {

template <class T>
Tensor ragged(std::initializer_list<std::initializer_list<T>> rows) {
  return copy_rows<T>(rows);
}

template <class T>
Tensor ragged(const std::vector<std::vector<T>>& rows) {
  return copy_rows<T>(rows);
}

#define ANYSHAPE_HOST_TYPE(T)                                                      \
  template Tensor ragged<T>(std::initializer_list<std::initializer_list<T>> rows); \
  template Tensor ragged<T>(const std::vector<std::vector<T>>& rows);
ANYSHAPE_FOR_EACH_HOST_TYPE(ANYSHAPE_HOST_TYPE)
#undef ANYSHAPE_HOST_TYPE

}  // namespace anyshape
