// Views share their source's buffer: only sizes, strides and the offset differ. Every offset a view can reach is checked here once.
#include "tensor/view.h"

#include "base/checked.h"
#include "base/thread_context.h"
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/make_impl.h"
#include "tensor/partition.h"
#include "tensor/row_major_strides.h"
#include "tensor/strided_copy.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {
namespace {

// The number of elements; one size of 0 makes it 0, however large the others are.
int64_t checked_count(std::span<const int64_t> sizes, std::string_view place) {
  if (sizes.size() > static_cast<size_t>(max_rank)) {
    throw ShapeError(
        fmt::format("{}: rank {} is too high: [{}]; expected at most {} axes.", place, sizes.size(), fmt::join(sizes, ", "), max_rank));
  }
  for (const int64_t size : sizes) {
    if (size < 0)
      throw ShapeError(fmt::format("{}: a size is negative: [{}]; expected sizes of 0 or more.", place, fmt::join(sizes, ", ")));
  }
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t count = 1;
  for (const int64_t size : sizes) count = checked_multiply(count, size, "number of elements");
  return count;
}

void set_sizes(TensorImpl& tensor, std::span<const int64_t> sizes) {
  tensor.rank = static_cast<int8_t>(sizes.size());
  tensor.sizes = {};
  tensor.strides = {};
  std::ranges::copy(sizes, tensor.sizes.begin());
}

void set_row_major_strides(TensorImpl& tensor) {
  anyshape::set_row_major_strides(std::span(tensor.sizes.data(), static_cast<size_t>(tensor.rank)), tensor.strides);
}

std::shared_ptr<TensorImpl> share(const TensorImpl& source) {
  auto view = make_impl();
  view->dtype = source.dtype;
  view->rank = source.rank;
  view->sizes = source.sizes;
  view->strides = source.strides;
  view->offset = source.offset;
  view->set_buffer(source.buffer());
  return view;
}

void require_rank(const Tensor& tensor, size_t received, std::string_view place) {
  if (received == static_cast<size_t>(tensor.rank())) return;
  throw ShapeError(
      fmt::format("{}: {} values for the axes of {}; expected {}, one per axis.", place, received, describe(tensor), tensor.rank()));
}

// Strides that show the elements under other sizes without moving them; false where there are none. Neither side has a size of 0.
bool find_strides(const TensorImpl& source, TensorImpl& view) {
  std::array<int64_t, max_rank> sizes{}, strides{};
  int rank = 0;
  for (int i = 0; i < source.rank; ++i) {
    if (source.sizes[i] == 1) continue;
    sizes[rank] = source.sizes[i];
    strides[rank++] = source.strides[i];
  }
  // Both sides are cut into the smallest groups of axes with equal products; inside a group the source must lie evenly.
  int old_begin = 0, new_begin = 0;
  while (old_begin < rank) {
    int old_end = old_begin + 1, new_end = new_begin + 1;
    int64_t old_count = sizes[old_begin], new_count = view.sizes[new_begin];
    while (old_count != new_count) {
      if (new_count < old_count) {
        new_count *= view.sizes[new_end++];
      } else {
        old_count *= sizes[old_end++];
      }
    }
    for (int i = old_begin; i + 1 < old_end; ++i) {
      if (strides[i] != sizes[i + 1] * strides[i + 1]) return false;
    }
    view.strides[new_end - 1] = strides[old_end - 1];
    for (int i = new_end - 1; i > new_begin; --i) view.strides[i - 1] = view.strides[i] * view.sizes[i];
    old_begin = old_end;
    new_begin = new_end;
  }
  for (int i = new_begin; i < view.rank; ++i) view.strides[i] = 1;  // sizes of 1 that are left over
  return true;
}

template <class Number>
Tensor make_one(Dtype dtype, Number number) {
  Tensor scalar = make_empty(dtype, {});
  with_element(dtype, [&]<class T>(T) { *host_data<T>(scalar) = convert_element<T>(number); });
  return scalar;
}

}  // namespace

int64_t TensorImpl::count() const {
  int64_t product = 1;
  for (const int64_t size : extents()) {
    if (size == 0) return 0;
  }
  for (const int64_t size : extents()) product *= size;
  return product;
}

Tensor another_handle(const Tensor& tensor) {
  if (const RaggedTensor* ragged = as_ragged(tensor)) return make_ragged(another_handle(ragged->values), ragged->partition);
  const TensorImpl& source = *tensor.impl();
  if (source.is_strided()) return Tensor(share(source));
  auto impl = make_impl();
  impl->dtype = source.dtype;
  impl->rank = source.rank;
  impl->become(TracedTensor(*source.traced()));
  return Tensor(std::move(impl));
}

bool is_traced(const Tensor& tensor) {
  if (!tensor.defined() || tensor.impl()->is_strided()) return false;
  if (const RaggedTensor* ragged = as_ragged(tensor)) return is_traced(ragged->values) || is_traced(ragged->partition->splits);
  return true;
}

const TensorImpl& require_eager(const Tensor& tensor, std::string_view place) {
  if (!tensor.defined())
    throw ArgumentError(
        fmt::format("{}: the tensor is undefined; expected a tensor with a value. It was made by Tensor() and never assigned.", place));
  if (!is_traced(tensor)) {
    if (as_ragged(tensor) == nullptr) return *tensor.impl();
    throw ShapeError(fmt::format(
        "{}: the tensor is ragged: {}; expected a dense one. Use to_padded(x) to fill up its rows, or x.values() for its elements.", place,
        describe(tensor)));
  }
  throw TraceError(
      fmt::format("{}: the values of {} are not known inside a traced function; expected a tensor outside a trace. "
                  "Compute with tensors (where, cond, while_loop), or return it and read it from the result.",
                  place, describe(tensor)));
}

Tensor make_empty(Dtype dtype, std::span<const int64_t> sizes) {
  const int64_t count = checked_count(sizes, "tensor");
  auto tensor = make_impl();
  tensor->dtype = dtype;
  set_sizes(*tensor, sizes);
  set_row_major_strides(*tensor);
  tensor->set_buffer(allocate(checked_bytes(count, size_of(dtype), "tensor")));
  return Tensor(std::move(tensor));
}

Tensor make_scalar(Dtype dtype, double number) { return make_one(dtype, number); }
Tensor make_scalar(Dtype dtype, int64_t number) { return make_one(dtype, number); }

Tensor number_as(const Tensor& weak, Dtype dtype) {
  const TensorImpl& number = require_eager(weak, "number");
  if (is_floating(number.dtype)) return make_scalar(dtype, number.number);
  return make_scalar(dtype, weak.item<int64_t>());
}

bool is_contiguous(const TensorImpl& tensor) {
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.sizes[i] == 0) return true;
  }
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.sizes[i] == 1) continue;
    if (tensor.strides[i] != stride) return false;
    stride *= tensor.sizes[i];
  }
  return true;
}

int64_t copies_made() { return this_thread.copies; }

Tensor contiguous(const Tensor& tensor) {
  const TensorImpl& source = require_eager(tensor, "contiguous");
  if (is_contiguous(source)) return tensor;
  ++this_thread.copies;
  Tensor copy = make_empty(source.dtype, source.extents());
  copy_row_major(source, host_data(copy));
  return copy;
}

Tensor transpose_view(const Tensor& tensor, std::span<const int> permutation) {
  const TensorImpl& source = require_eager(tensor, "transpose");
  require_rank(tensor, permutation.size(), "transpose");
  auto view = share(source);
  unsigned seen = 0;
  for (int i = 0; i < source.rank; ++i) {
    const int axis = permutation[i];
    if (axis < 0 || axis >= source.rank || (seen & (1U << axis)) != 0) {
      throw ShapeError(fmt::format("transpose: [{}] does not reorder the axes of {}; expected each of 0 to {} once.",
                                   fmt::join(permutation, ", "), describe(tensor), source.rank - 1));
    }
    seen |= 1U << axis;
    view->sizes[i] = source.sizes[axis];
    view->strides[i] = source.strides[axis];
  }
  return Tensor(std::move(view));
}

Tensor slice_view(const Tensor& tensor, std::span<const int64_t> begins, std::span<const int64_t> sizes, std::span<const int64_t> steps) {
  const TensorImpl& source = require_eager(tensor, "slice");
  require_rank(tensor, begins.size(), "slice");
  require_rank(tensor, sizes.size(), "slice");
  require_rank(tensor, steps.size(), "slice");
  checked_count(sizes, "slice");
  auto view = share(source);
  for (int i = 0; i < source.rank; ++i) {
    const int64_t begin = begins[i], size = sizes[i], step = steps[i];
    view->sizes[i] = size;
    if (size == 0) continue;  // no element, so the begin may lie anywhere
    int64_t last = 0;
    const bool overflows = __builtin_mul_overflow(size - 1, step, &last) || __builtin_add_overflow(begin, last, &last);
    if (overflows || begin < 0 || begin >= source.sizes[i] || last < 0 || last >= source.sizes[i]) {
      throw ShapeError(fmt::format("slice: {} elements from {} in steps of {} leave axis {} of {}; expected indices from 0 to {}.", size,
                                   begin, step, i, describe(tensor), source.sizes[i] - 1));
    }
    view->offset += begin * source.strides[i];
    view->strides[i] = size == 1 ? source.strides[i] : source.strides[i] * step;
  }
  // Without elements the offset means nothing; the source's own is inside the buffer.
  if (view->count() == 0) view->offset = source.offset;
  return Tensor(std::move(view));
}

Tensor reshape_view(const Tensor& tensor, std::span<const int64_t> sizes) {
  const TensorImpl& source = require_eager(tensor, "reshape");
  const int64_t count = checked_count(sizes, "reshape");
  if (count != source.count()) {
    throw ShapeError(fmt::format("reshape: {} has {} elements, [{}] has {}; expected equal counts.", describe(tensor), source.count(),
                                 fmt::join(sizes, ", "), count));
  }
  auto view = share(source);
  set_sizes(*view, sizes);
  if (count == 0 || is_contiguous(source)) {
    set_row_major_strides(*view);
  } else if (!find_strides(source, *view)) {
    view->set_buffer(contiguous(tensor).impl()->buffer());
    view->offset = 0;
    set_row_major_strides(*view);
  }
  return Tensor(std::move(view));
}

Tensor broadcast_view(const Tensor& tensor, std::span<const int64_t> sizes) {
  const TensorImpl& source = require_eager(tensor, "broadcast");
  checked_count(sizes, "broadcast");
  const int added = static_cast<int>(sizes.size()) - source.rank;
  auto view = share(source);
  set_sizes(*view, sizes);
  bool fits = added >= 0;
  for (int i = 0; fits && i < source.rank; ++i) {
    const int64_t from = source.sizes[i], to = sizes[added + i];
    view->strides[added + i] = from == to ? source.strides[i] : 0;
    fits = from == to || from == 1;
  }
  if (!fits) {
    throw ShapeError(fmt::format("broadcast: {} does not spread to [{}]; expected each size to be equal or 1, last axes aligned.",
                                 describe(tensor), fmt::join(sizes, ", ")));
  }
  return Tensor(std::move(view));
}

}  // namespace anyshape
