// Layers that are made for the weights of a file: what a hostile file says of their sizes takes no memory, and nothing is drawn for them.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/random.h>
#include <anyshape/tensor.h>

namespace anyshape::nn {

// While it lives, weights that this thread makes hold one element for all, until they are assigned, and layers that are given no dtype have that of
// the process that wrote the file. What is drawn besides does not count.
class LoadingScope {
 public:
  explicit LoadingScope(Dtype default_dtype);
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;

  static const LoadingScope* current();
  static Tensor unread_weight(const Shape& shape, Dtype dtype);
  Dtype default_dtype() const { return default_dtype_; }

 private:
  Dtype default_dtype_;
  random::SeedScope numbers_;
  const LoadingScope* outer_;
};

}  // namespace anyshape::nn
