// Layers of several inputs: Concatenate, Add, Multiply. Their masks are Keras's: a step is real where it is in any of the inputs.
#include "graph/layer_path.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

class ConcatenateLayer final : public Layer {
 public:
  explicit ConcatenateLayer(const ConcatenateOptions& options) : Layer("Concatenate"), axis_(options.axis) {}

  Tensor call(std::span<const Tensor> inputs, const CallContext&) override {
    return concat({inputs.begin(), inputs.end()}, {.axis = axis_});
  }

  // An input without a mask is real everywhere.
  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor> masks) const override {
    if (std::ranges::none_of(masks, &Tensor::defined)) return {};
    const int rank = inputs[0].rank(), axis = axis_ < 0 ? axis_ + rank : axis_;
    std::vector<Tensor> all;
    for (size_t i = 0; i < masks.size(); ++i) {
      const Shape shape = inputs[i].shape();
      all.push_back(masks[i].defined() ? masks[i] : ones({shape[0], shape[1]}, {.dtype = Dtype::b8}));
    }
    if (axis < all[0].rank()) return concat(all, {.axis = axis});
    return any_of(all);
  }

  static Tensor any_of(std::span<const Tensor> masks) {
    Tensor any = masks[0];
    for (const Tensor& mask : masks.subspan(1)) any = logical_or(any, mask);
    return any;
  }

 private:
  int axis_;
};

class ReduceLayer final : public Layer {
 public:
  using Combine = Tensor (*)(const Tensor&, const Tensor&);
  ReduceLayer(const char* type, Combine combine, const LayerOptions&) : Layer(type), combine_(combine) {}

  Tensor call(std::span<const Tensor> inputs, const CallContext&) override {
    if (inputs.size() < 2) {
      throw ArgumentError(fmt::format("{}: got {} input; expected at least two.{}", nn::type_of(*this), inputs.size(), current_place()));
    }
    Tensor result = inputs[0];
    for (const Tensor& input : inputs.subspan(1)) result = combine_(result, input);
    return result;
  }

  Tensor mask(std::span<const Tensor>, std::span<const Tensor> masks) const override {
    return std::ranges::all_of(masks, &Tensor::defined) ? ConcatenateLayer::any_of(masks) : Tensor();
  }

 private:
  Combine combine_;
};

}  // namespace

Concatenate::Concatenate(ConcatenateOptions options) : AnyLayer(nn::make_layer<ConcatenateLayer>(options)) {}
Add::Add(LayerOptions options)
    : AnyLayer(nn::make_layer<ReduceLayer>(options, "Add", [](const Tensor& a, const Tensor& b) -> Tensor { return a + b; })) {}
Multiply::Multiply(LayerOptions options)
    : AnyLayer(nn::make_layer<ReduceLayer>(options, "Multiply", [](const Tensor& a, const Tensor& b) -> Tensor { return a * b; })) {}

}  // namespace anyshape
