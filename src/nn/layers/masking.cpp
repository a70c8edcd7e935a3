// Masking: a step all of whose features have the mask value is no real step. It becomes zeros, and later layers pass over it.
#include "base/option_rules.h"
#include "nn/make_layer.h"

#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

class MaskingLayer final : public Layer {
 public:
  explicit MaskingLayer(const MaskingOptions& options)
      : Layer("Masking"), value_(require::finite("Masking", "mask_value", options.mask_value)) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    const Tensor real = any(x != value_, {.axes = {-1}, .keep_dims = true});
    return where(real, x, 0);
  }
  // Ragged rows have no padding: every step of theirs stays one.
  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return inputs[0].is_ragged() ? Tensor() : any(inputs[0] != value_, {.axes = {-1}});
  }

 private:
  double value_;
};

}  // namespace

Masking::Masking(MaskingOptions options) : AnyLayer(nn::make_layer<MaskingLayer>(options)) {}

}  // namespace anyshape
