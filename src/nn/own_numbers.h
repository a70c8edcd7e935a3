// Random numbers of a layer: by random::set_seed, or by a seed of its own and how often it drew.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/layer.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <cstdint>
#include <optional>

namespace anyshape::nn {

class OwnNumbers {
 public:
  explicit OwnNumbers(std::optional<int64_t> seed) : seed_(seed) {}

  void build(Layer& layer);  // where the layer makes its weights
  // Numbers in [0, 1): of f64 for f64, of f32 for all others.
  Tensor uniform(const Shape& shape, Dtype dtype) const;

 private:
  std::optional<int64_t> seed_;
  Variable draws_;  // the seed's key, and how many times it drew: no weight, and in files of whole models alone
};

}  // namespace anyshape::nn
