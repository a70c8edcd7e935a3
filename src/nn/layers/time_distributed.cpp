// TimeDistributed: a layer at every step. Steps become rows of one batch, so one call serves them all; ragged rows are their real steps only.
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

void require_steps(const Shape& input) {
  if (input.rank() >= 2) return;
  throw ShapeError(fmt::format("TimeDistributed: the input is {}; expected [batch, time, ...].", to_string(input)));
}

// [first..., what stands behind the axes that `of` has in front].
Shape with_front(const Shape& first, const Shape& of, int skipped) {
  Shape shape = first;
  for (int axis = skipped; axis < of.rank(); ++axis) shape.push_back(of[axis]);
  return shape;
}

class TimeDistributedLayer final : public Layer {
 public:
  TimeDistributedLayer(const AnyLayer& inner, const SequenceOptions& options) : Layer("TimeDistributed") {
    if (!inner.defined()) throw ArgumentError("TimeDistributed: the layer is an empty handle; expected a layer.");
    nn::share_dtype(*this, inner, options.dtype);
    inner_ = child(inner);
  }

  bool supports_masking() const override { return true; }
  Dtype input_dtype() const override { return inner_.layer()->input_dtype(); }

  void build(const Shape& input) override { require_steps(input); }

  Tensor call(const Tensor& x, const CallContext&) override {
    const Shape shape = x.shape();
    require_steps(shape);
    if (x.is_ragged()) return with_rows_of(inner_(x.values()), x);
    const Tensor result = inner_(reshape(x, with_front({shape[0] * shape[1]}, shape, 2)));
    if (result.rank() == 0 || result.is_ragged()) {
      throw ShapeError(
          fmt::format("TimeDistributed: layer \"{}\" gives {}; expected one row per step.", inner_.name(), to_string(result.shape())));
    }
    return reshape(result, with_front({shape[0], shape[1]}, result.shape(), 1));
  }

 private:
  AnyLayer inner_;
};

}  // namespace

TimeDistributed::TimeDistributed(AnyLayer inner, SequenceOptions options)
    : AnyLayer(nn::make_wrapper<TimeDistributedLayer>(options, inner, "layer")) {}

}  // namespace anyshape
