// A weight without memory is one element that stands at every place.
#include "nn/loading_scope.h"

#include "base/thread_context.h"
#include "tensor/view.h"

#include <utility>
#include <vector>

namespace anyshape::nn {

LoadingScope::LoadingScope(Dtype default_dtype)
    : default_dtype_(default_dtype), numbers_(0), outer_(std::exchange(this_thread.loading, this)) {}
LoadingScope::~LoadingScope() { this_thread.loading = outer_; }

const LoadingScope* LoadingScope::current() { return this_thread.loading; }

Tensor LoadingScope::unread_weight(const Shape& shape, Dtype dtype) {
  std::vector<int64_t> sizes;
  for (const Dim& size : shape) sizes.push_back(size.value());
  return broadcast_view(make_scalar(dtype, 0.0), sizes);
}

}  // namespace anyshape::nn
