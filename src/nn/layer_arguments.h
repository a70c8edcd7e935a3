// What layers take beside their options, in Keras's names: fields of their configs that have no defaults.
#pragma once
#include <anyshape/layer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace anyshape::nn {

struct NoArguments {};
struct UnitsArguments {
  int64_t units;
};
struct EmbeddingArguments {
  int64_t input_dim, output_dim;
};
struct ActivationArguments {
  ActivationFunction activation;
};
struct LambdaArguments {
  std::function<Tensor(const Tensor&)> function;
};
struct ReshapeArguments {
  std::vector<int64_t> target_shape;
};
struct RescalingArguments {
  double scale;
};
struct RescalingOptions {
  double offset = 0;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct DropoutArguments {
  double rate;
};
struct AttentionArguments {
  int64_t num_heads, key_dim;
};
struct CellArguments {
  AnyLayer cell;
};
struct WrapperArguments {
  AnyLayer layer;
};

}  // namespace anyshape::nn
