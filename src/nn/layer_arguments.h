// What layers take beside their options, in Keras's names: fields of their configs that have no defaults.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/layers/augmentation.h>
#include <anyshape/ops/image.h>
#include <anyshape/spatial.h>

#include <cstdint>
#include <functional>
#include <optional>
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

// Of layers along spatial axes.
struct ConvolutionArguments {
  int64_t filters;
  PerAxis kernel_size;
};
struct KernelArguments {
  PerAxis kernel_size;
};
struct OutputSizeArguments {
  PerAxis output_size;
};
struct ImageSizeArguments {
  int64_t height, width;
};
struct FactorArguments {
  FactorRange factor;
};
struct HeightFactorArguments {
  FactorRange height_factor;
};
struct FactorsArguments {
  FactorRange height_factor, width_factor;
};
// Options, where the first argument has a default, too.
struct PoolingFields {
  PerAxis pool_size = 2;
  std::optional<PerAxis> strides = {};
  Padding padding = "valid";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
template <int axes>
struct PaddingFields {
  Padding padding = 1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
template <int axes>
struct CroppingFields {
  Padding cropping = axes == 2 ? 0 : 1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct FlipFields {
  FlipMode mode = FlipMode::HorizontalAndVertical;
  std::optional<int64_t> seed = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct SizeFields {
  PerAxis size = 2;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct UpSamplingFields {
  PerAxis size = 2;
  Interpolation interpolation = Interpolation::Nearest;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};

}  // namespace anyshape::nn
