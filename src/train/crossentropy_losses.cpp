// Crossentropies: from logits where they are known, from clipped probabilities otherwise.
#include "nn/annotations.h"
#include "train/loss_impl.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

constexpr double least = 1e-7;  // probabilities are kept this far from 0 and 1

Tensor clipped(const Tensor& p) { return clip(p, least, 1 - least); }

struct Prediction {
  Tensor value;
  bool is_logits;
};

// A prediction that came straight from a sigmoid or softmax is taken back to its logits: no saturation, as in Keras.
Prediction prediction_of(const Tensor& given, bool from_logits) {
  if (from_logits) return {given, true};
  const Tensor logits = nn::logits_of(given);
  return logits.defined() ? Prediction{logits, true} : Prediction{given, false};
}

// -(y log p + (1 - y) log(1 - p)) per element.
Tensor binary_elements(const Tensor& y, const Prediction& prediction) {
  const Tensor& x = prediction.value;
  if (prediction.is_logits) return maximum(x, 0) - x * y + log1p(exp(-abs(x)));
  const Tensor p = clipped(x);
  return -(y * log(p) + (1 - y) * log(1 - p));
}

Loss made(LossImpl loss) { return Loss(std::make_shared<const LossImpl>(std::move(loss))); }

}  // namespace

Loss binary_crossentropy(CrossentropyOptions options) {
  LossImpl loss{.name = "binary_crossentropy", .reduction = options.reduction, .ignore_missing = options.ignore_missing};
  loss.elements = [options](const Tensor& target, const Tensor& prediction) {
    const Tensor y = cast(target, prediction.dtype()) * (1 - options.label_smoothing) + options.label_smoothing / 2;
    return binary_elements(y, prediction_of(prediction, options.from_logits));
  };
  loss.values = [elements = loss.elements, axis = options.axis](const Tensor& target, const Tensor& prediction) {
    return mean(elements(target, prediction), {.axes = {axis}});
  };
  return made(std::move(loss));
}

Loss categorical_crossentropy(CrossentropyOptions options) {
  LossImpl loss{.name = "categorical_crossentropy", .reduction = options.reduction, .ignore_missing = options.ignore_missing};
  loss.values = [options](const Tensor& target, const Tensor& given) {
    Tensor y = cast(target, given.dtype());
    if (options.label_smoothing != 0) {
      const Tensor classes = cast(size(given, options.axis), given.dtype());
      y = y * (1 - options.label_smoothing) + options.label_smoothing / classes;
    }
    const Prediction prediction = prediction_of(given, options.from_logits);
    const Tensor& x = prediction.value;
    const Tensor logarithms = prediction.is_logits ? log_softmax(x, {.axis = options.axis})
                                                   : log(clipped(x / sum(x, {.axes = {options.axis}, .keep_dims = true})));
    return -sum(y * logarithms, {.axes = {options.axis}});
  };
  return made(std::move(loss));
}

Loss sparse_categorical_crossentropy(SparseCrossentropyOptions options) {
  LossImpl loss{.name = "sparse_categorical_crossentropy", .reduction = options.reduction, .same_rank = false, .target_dtype = Dtype::i32};
  loss.values = [options](const Tensor& target, const Tensor& given) {
    const Prediction prediction = prediction_of(given, options.from_logits);
    const Tensor logits = prediction.is_logits ? prediction.value : log(clipped(prediction.value));
    Tensor labels = target.rank() == given.rank() ? squeeze(target, {options.axis}) : target;
    if (options.ignore_class) labels = where(labels == *options.ignore_class, 0, labels);
    const Tensor chosen =
        take_along_axis(log_softmax(logits, {.axis = options.axis}), expand_dims(labels, options.axis), {.axis = options.axis});
    return -squeeze(chosen, {options.axis});
  };
  if (options.ignore_class) {
    loss.counts = [ignored = *options.ignore_class](const Tensor& target) { return target != ignored; };
  }
  return made(std::move(loss));
}

Loss binary_focal_crossentropy(FocalOptions options) {
  LossImpl loss{.name = "binary_focal_crossentropy", .reduction = options.reduction};
  loss.values = [options](const Tensor& target, const Tensor& given) {
    const Tensor y = cast(target, given.dtype()) * (1 - options.label_smoothing) + options.label_smoothing / 2;
    const Prediction prediction = prediction_of(given, options.from_logits);
    const Tensor p = prediction.is_logits ? sigmoid(prediction.value) : clipped(prediction.value);
    const Tensor right = y * p + (1 - y) * (1 - p);
    Tensor elements = pow(1 - right, options.gamma) * binary_elements(y, prediction);
    if (options.apply_class_balancing) elements = elements * (y * options.alpha + (1 - y) * (1 - options.alpha));
    return mean(elements, {.axes = {-1}});
  };
  return made(std::move(loss));
}

}  // namespace anyshape
