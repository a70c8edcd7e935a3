// Layers that change shapes: Flatten and Reshape. The batch stays; a mask does not.
#include "graph/layer_path.h"
#include "nn/make_layer.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {
namespace {

void require_dense(const Layer& layer, const Tensor& x) {
  if (!x.is_ragged()) return;
  throw ShapeError(
      fmt::format("{}: x is {}; expected a dense tensor. Rows of unequal length have no common shape: pool them first, or use "
                  "to_padded.{}",
                  nn::type_of(layer), describe(x), current_place()));
}

class FlattenLayer final : public Layer {
 public:
  explicit FlattenLayer(const LayerOptions&) : Layer("Flatten") {}

  Tensor call(const Tensor& x, const CallContext&) override {
    require_dense(*this, x);
    const Shape shape = x.shape();
    if (shape.rank() == 1) return expand_dims(x, 1);
    Dim features = 1;
    for (int axis = 1; axis < shape.rank(); ++axis) features = features * shape[axis];
    return reshape(x, {shape[0], features});
  }
};

class ReshapeLayer final : public Layer {
 public:
  ReshapeLayer(std::vector<int64_t> target, const LayerOptions&) : Layer("Reshape"), target_(std::move(target)) {
    const auto open = std::ranges::count(target_, -1);
    if (open > 1 || std::ranges::any_of(target_, [](int64_t size) { return size < -1; })) {
      throw ArgumentError(
          fmt::format("Reshape: the target is [{}]; expected sizes of at least 0, one of them -1 at most.", fmt::join(target_, ", ")));
    }
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    require_dense(*this, x);
    Shape shape{x.shape()[0]};
    Dim row = 1;
    for (int axis = 1; axis < x.rank(); ++axis) row = row * x.shape()[axis];
    Dim known = 1;
    for (const int64_t size : target_) known = size < 0 ? known : known * size;
    for (const int64_t size : target_) shape.push_back(size >= 0 ? Dim(size) : known.same_as(0) ? Dim(0) : row / known);
    return reshape(x, shape);
  }

 private:
  std::vector<int64_t> target_;
};

}  // namespace

Flatten::Flatten(LayerOptions options) : AnyLayer(nn::make_layer<FlattenLayer>(options)) {}
Reshape::Reshape(std::vector<int64_t> target, LayerOptions options)
    : AnyLayer(nn::make_layer<ReshapeLayer>(options, nn::ReshapeArguments{std::move(target)})) {}

}  // namespace anyshape
