// Layers of several inputs: Concatenate, Add, Multiply. Their masks: a step is real where it is in every input that has a mask.
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

class MergeLayer : public Layer {
 public:
  using Layer::Layer;
  Tensor mask(std::span<const Tensor>, std::span<const Tensor> masks) const override {
    Tensor all;
    for (const Tensor& each : masks) {
      if (each.defined()) all = all.defined() ? logical_and(all, each) : each;
    }
    return all;
  }
};

class ConcatenateLayer final : public MergeLayer {
 public:
  explicit ConcatenateLayer(const ConcatenateOptions& options) : MergeLayer("Concatenate"), axis_(options.axis) {}
  Tensor call(std::span<const Tensor> inputs, const CallContext&) override {
    return concat({inputs.begin(), inputs.end()}, {.axis = axis_});
  }

 private:
  int axis_;
};

class ReduceLayer final : public MergeLayer {
 public:
  using Combine = Tensor (*)(const Tensor&, const Tensor&);
  ReduceLayer(const char* type, Combine combine, const LayerOptions&) : MergeLayer(type), combine_(combine) {}
  Tensor call(std::span<const Tensor> inputs, const CallContext&) override {
    if (inputs.size() < 2) throw ArgumentError(fmt::format("{}: got {} input; expected at least two.", nn::type_of(*this), inputs.size()));
    Tensor result = inputs[0];
    for (const Tensor& input : inputs.subspan(1)) result = combine_(result, input);
    return result;
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
