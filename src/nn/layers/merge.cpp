// Layers of several inputs: Concatenate, Add, Multiply. Their masks are Keras's: a step is real where it is in any of the inputs.
#include "graph/layer_path.h"
#include "nn/make_layer.h"
#include "nn/notes.h"

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

class ReduceLayer : public Layer {
 public:
  using Layer::Layer;

  Tensor call(std::span<const Tensor> inputs, const CallContext&) override {
    if (inputs.size() < 2) {
      throw ArgumentError(fmt::format("{}: got {} input; expected at least two.{}", nn::type_of(*this), inputs.size(), current_place()));
    }
    return combined(inputs);
  }

  Tensor mask(std::span<const Tensor>, std::span<const Tensor> masks) const override {
    return std::ranges::all_of(masks, &Tensor::defined) ? ConcatenateLayer::any_of(masks) : Tensor();
  }

 private:
  virtual Tensor combined(std::span<const Tensor> inputs) const = 0;
};

class AddLayer final : public ReduceLayer {
 public:
  explicit AddLayer(const LayerOptions&) : ReduceLayer("Add") {}

 private:
  Tensor combined(std::span<const Tensor> inputs) const override {
    Tensor sum = inputs[0];
    for (const Tensor& input : inputs.subspan(1)) sum = sum + input;
    return sum;
  }
};

// A masked step is a factor of 1, and what is masked in all inputs is 0.
class MultiplyLayer final : public ReduceLayer {
 public:
  explicit MultiplyLayer(const LayerOptions&) : ReduceLayer("Multiply") {}

 private:
  static Tensor over_features(const Tensor& mask, const Tensor& x) {
    Tensor wide = mask;
    while (wide.rank() < x.rank()) wide = expand_dims(wide, -1);
    return wide;
  }

  Tensor combined(std::span<const Tensor> inputs) const override {
    std::vector<Tensor> masks;
    Tensor product;
    for (const Tensor& input : inputs) {
      const Tensor mask = nn::mask_of(input);
      if (mask.defined()) masks.push_back(mask);
      const Tensor factor = mask.defined() ? where(over_features(mask, input), input, ones_like(input)) : input;
      product = product.defined() ? product * factor : factor;
    }
    if (masks.size() < inputs.size()) return product;
    return where(over_features(ConcatenateLayer::any_of(masks), product), product, zeros_like(product));
  }
};

}  // namespace

Concatenate::Concatenate(ConcatenateOptions options) : AnyLayer(nn::make_layer<ConcatenateLayer>(options)) {}
Add::Add(LayerOptions options) : AnyLayer(nn::make_layer<AddLayer>(options)) {}
Multiply::Multiply(LayerOptions options) : AnyLayer(nn::make_layer<MultiplyLayer>(options)) {}

}  // namespace anyshape
