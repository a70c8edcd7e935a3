// Layers that are made for the weights of a file: what a hostile file says of their sizes takes no memory, and nothing is drawn for them.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/random.h>
#include <anyshape/tensor.h>

#include <cstdint>
#include <limits>

namespace anyshape::nn {

// While it lives, weights that this thread makes hold one element for all, until they are assigned, and layers that are given no dtype have that of
// the process that wrote the file. What is drawn besides does not count. A layer takes more memory than its name takes in a file: there are so many at most.
class LoadingScope {
 public:
  explicit LoadingScope(Dtype default_dtype, int64_t most_layers = std::numeric_limits<int64_t>::max());
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;

  static const LoadingScope* current();
  static Tensor unread_weight(const Shape& shape, Dtype dtype);
  Dtype default_dtype() const { return default_dtype_; }
  void count_layer() const;  // ArgumentError for one too many

 private:
  Dtype default_dtype_;
  int64_t most_layers_;
  mutable int64_t layers_ = 0;
  random::SeedScope numbers_;
  const LoadingScope* outer_;
};

}  // namespace anyshape::nn
