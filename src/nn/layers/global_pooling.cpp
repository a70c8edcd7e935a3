// GlobalAveragePooling1D and GlobalMaxPooling1D: time goes, over real steps only: of a mask, of a ragged batch.
#include "graph/layer_path.h"
#include "nn/make_layer.h"
#include "nn/notes.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

void require_steps(const Layer& layer, const Tensor& x) {
  if (x.rank() == 3) return;
  throw ShapeError(fmt::format("{}: x is {}; expected [batch, time, features].{}", nn::type_of(layer), describe(x), current_place()));
}

// The least number of the dtype: what the maximum of nothing is.
double lowest(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return std::numeric_limits<double>::lowest();
    case Dtype::f16: return -65504;
    case Dtype::bf16: return -0x1.FEp127;
    default: return std::numeric_limits<float>::lowest();
  }
}

class AveragePoolingLayer final : public Layer {
 public:
  explicit AveragePoolingLayer(const SequenceOptions&) : Layer("GlobalAveragePooling1D") {}
  Tensor call(const Tensor& x, const CallContext&) override {
    require_steps(*this, x);
    const Tensor real = nn::mask_of(x);
    if (!real.defined()) return mean(x, {.axes = {1}});
    const Tensor weight = expand_dims(cast(real, x.dtype()), -1);
    return sum(where(expand_dims(real, -1), x, 0), {.axes = {1}}) / sum(weight, {.axes = {1}});
  }
};

class MaxPoolingLayer final : public Layer {
 public:
  explicit MaxPoolingLayer(const SequenceOptions&) : Layer("GlobalMaxPooling1D") {}
  Tensor call(const Tensor& x, const CallContext&) override {
    require_steps(*this, x);
    const Tensor real = nn::mask_of(x);
    if (!real.defined()) return max(x, {.axes = {1}});
    return max(where(expand_dims(real, -1), x, lowest(x.dtype())), {.axes = {1}});
  }
};

}  // namespace

GlobalAveragePooling1D::GlobalAveragePooling1D(SequenceOptions options) : AnyLayer(nn::make_layer<AveragePoolingLayer>(options)) {}
GlobalMaxPooling1D::GlobalMaxPooling1D(SequenceOptions options) : AnyLayer(nn::make_layer<MaxPoolingLayer>(options)) {}

}  // namespace anyshape
