// Layers that change shapes: Flatten and Reshape. The batch stays; a mask does not.
#include "nn/make_layer.h"

#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

class FlattenLayer final : public Layer {
 public:
  explicit FlattenLayer(const LayerOptions&) : Layer("Flatten") {}

  Tensor call(const Tensor& x, const CallContext&) override {
    const Shape shape = x.shape();
    if (shape.rank() == 1) return expand_dims(x, 1);
    Dim features = 1;
    for (int axis = 1; axis < shape.rank(); ++axis) features = features * shape[axis];
    return reshape(x, {shape[0], features});
  }
};

class ReshapeLayer final : public Layer {
 public:
  ReshapeLayer(std::vector<int64_t> target, const LayerOptions&) : Layer("Reshape"), target_(std::move(target)) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    Shape shape{x.shape()[0]};
    Dim row = 1;
    for (int axis = 1; axis < x.rank(); ++axis) row = row * x.shape()[axis];
    Dim known = 1;
    for (const int64_t size : target_) known = size < 0 ? known : known * size;
    for (const int64_t size : target_) shape.push_back(size < 0 ? row / known : Dim(size));
    return reshape(x, shape);
  }

 private:
  std::vector<int64_t> target_;
};

}  // namespace

Flatten::Flatten(LayerOptions options) : AnyLayer(nn::make_layer<FlattenLayer>(options)) {}
Reshape::Reshape(std::vector<int64_t> target, LayerOptions options) : AnyLayer(nn::make_layer<ReshapeLayer>(options, std::move(target))) {}

}  // namespace anyshape
