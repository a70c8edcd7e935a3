// GlobalAveragePooling1D and GlobalMaxPooling1D: time goes, over real steps only: of a mask, of a ragged batch.
#include "nn/annotations.h"
#include "nn/make_layer.h"

#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

class AveragePoolingLayer final : public Layer {
 public:
  explicit AveragePoolingLayer(const SequenceOptions&) : Layer("GlobalAveragePooling1D") {}
  Tensor call(const Tensor& x, const CallContext&) override {
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
    const Tensor real = nn::mask_of(x);
    if (!real.defined()) return max(x, {.axes = {1}});
    return max(where(expand_dims(real, -1), x, std::numeric_limits<float>::lowest()), {.axes = {1}});
  }
};

}  // namespace

GlobalAveragePooling1D::GlobalAveragePooling1D(SequenceOptions options) : AnyLayer(nn::make_layer<AveragePoolingLayer>(options)) {}
GlobalMaxPooling1D::GlobalMaxPooling1D(SequenceOptions options) : AnyLayer(nn::make_layer<MaxPoolingLayer>(options)) {}

}  // namespace anyshape
