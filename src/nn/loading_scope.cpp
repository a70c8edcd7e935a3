// A weight without memory is one element that stands at every place.
#include "nn/loading_scope.h"

#include "base/thread_context.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace anyshape::nn {

LoadingScope::LoadingScope(Dtype default_dtype, int64_t most_layers)
    : default_dtype_(default_dtype), most_layers_(most_layers), numbers_(0), outer_(std::exchange(this_thread.loading, this)) {}
LoadingScope::~LoadingScope() { this_thread.loading = outer_; }

void LoadingScope::count_layer() const {
  if (++layers_ <= most_layers_) return;
  throw ArgumentError(fmt::format("layers: there are more than {}; expected as many as a file of this size has.", most_layers_));
}

const LoadingScope* LoadingScope::current() { return this_thread.loading; }

Tensor LoadingScope::unread_weight(const Shape& shape, Dtype dtype) {
  std::vector<int64_t> sizes;
  for (const Dim& size : shape) sizes.push_back(size.value());
  return broadcast_view(make_scalar(dtype, 0.0), sizes);
}

}  // namespace anyshape::nn
