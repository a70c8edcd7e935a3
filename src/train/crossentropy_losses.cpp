// Crossentropies: from logits where they are known, from clipped probabilities otherwise.
#include "base/option_rules.h"
#include "train/loss_impl.h"

#include <anyshape/ops.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

constexpr double least = 1e-7;  // probabilities are kept this far from 0 and 1

Tensor clipped(const Tensor& p) { return clip(p, least, 1 - least); }

// softplus(x) - x * y, whose slope is sigmoid(x) - y everywhere, at 0 too. It is softplus(-x) - (-x) * (1 - y) as well: of the two the one with
// the smaller factor, so that nothing cancels where a label is 0 or 1 and the logit far on its side.
Tensor elements_of_logits(const Tensor& y, const Tensor& x) {
  const Tensor is_mostly_one = y > 0.5;
  const Tensor away = where(is_mostly_one, -x, x);  // from what the label says
  return softplus(away) - away * where(is_mostly_one, 1 - y, y);
}

// -(y log p + (1 - y) log(1 - p)) per element.
Tensor binary_elements(const Tensor& y, const Tensor& x, bool is_logits) {
  if (is_logits) return elements_of_logits(y, x);
  const Tensor p = clipped(x);
  return -(y * log(p) + (1 - y) * log(1 - p));
}

// How far off a probability is, to the power gamma. The slope of a broken power is infinite at 0, and times a slope of 0 it would be NaN.
Tensor focus(const Tensor& wrong, double gamma) {
  if (gamma == std::floor(gamma)) return pow(wrong, gamma);
  const Tensor is_some = wrong > 0;
  return where(is_some, pow(where(is_some, wrong, 1), gamma), gamma < 0 ? std::numeric_limits<double>::infinity() : 0);
}

Tensor smoothed(const Tensor& y, double smoothing, const Tensor& classes) {
  return smoothing == 0 ? y : y * (1 - smoothing) + smoothing / classes;
}
Tensor smoothed(const Tensor& y, double smoothing) { return smoothing == 0 ? y : y * (1 - smoothing) + smoothing / 2; }

// The loss on logits beside one on probabilities: for predictions straight from a sigmoid or softmax, as in Keras. No saturation.
template <class Options>
std::shared_ptr<const LossImpl> on_logits(Loss (*make)(Options), Options options) {
  if (options.from_logits) return nullptr;
  options.from_logits = true;
  return make(options).impl();
}

}  // namespace

Loss binary_crossentropy(CrossentropyOptions options) {
  require::share("binary_crossentropy", "label_smoothing", options.label_smoothing);
  return train::make_loss({.name = "binary_crossentropy",
                           .axis = options.axis,
                           .elements =
                               [=](const Tensor& target, const Tensor& prediction) {
                                 return binary_elements(smoothed(target, options.label_smoothing), prediction, options.from_logits);
                               },
                           .reduction = options.reduction,
                           .ignore_missing = options.ignore_missing,
                           .from_sigmoid = on_logits(binary_crossentropy, options)},
                          options);
}

Loss binary_focal_crossentropy(FocalOptions options) {
  const char* const name = "binary_focal_crossentropy";
  require::not_negative(name, "gamma", options.gamma);
  require::share(name, "alpha", options.alpha);
  require::share(name, "label_smoothing", options.label_smoothing);
  return train::make_loss({.name = name,
                           .elements =
                               [=](const Tensor& target, const Tensor& x) {
                                 const Tensor y = smoothed(target, options.label_smoothing);
                                 const Tensor p = options.from_logits ? sigmoid(x) : clipped(x);
                                 const Tensor right = y * p + (1 - y) * (1 - p);
                                 const Tensor elements = focus(1 - right, options.gamma) * binary_elements(y, x, options.from_logits);
                                 if (!options.apply_class_balancing) return elements;
                                 return elements * (y * options.alpha + (1 - y) * (1 - options.alpha));
                               },
                           .reduction = options.reduction,
                           .ignore_missing = options.ignore_missing,
                           .from_sigmoid = on_logits(binary_focal_crossentropy, options)},
                          options);
}

Loss categorical_crossentropy(CrossentropyOptions options) {
  require::share("categorical_crossentropy", "label_smoothing", options.label_smoothing);
  return train::make_loss({.name = "categorical_crossentropy",
                           .other_form = "sparse_categorical_crossentropy",
                           .axis = options.axis,
                           .values =
                               [=](const Tensor& target, const Tensor& x) {
                                 const Tensor y = smoothed(target, options.label_smoothing, cast(size(x, -1), x.dtype()));
                                 const Tensor logarithms =
                                     options.from_logits ? log_softmax(x) : log(clipped(x / sum(x, {.axes = {-1}, .keep_dims = true})));
                                 return -sum(y * logarithms, {.axes = {-1}});
                               },
                           .reduction = options.reduction,
                           .ignore_missing = options.ignore_missing,
                           .from_softmax = options.axis == -1 ? on_logits(categorical_crossentropy, options) : nullptr},
                          options);
}

Loss sparse_categorical_crossentropy(SparseCrossentropyOptions options) {
  return train::make_loss({.name = "sparse_categorical_crossentropy",
                           .other_form = "categorical_crossentropy",
                           .target = train::TargetKind::Classes,
                           .axis = options.axis,
                           .values =
                               [=](const Tensor& labels, const Tensor& x) {
                                 const Tensor logarithms = log_softmax(options.from_logits ? x : log(clipped(x)));
                                 return -take(logarithms, labels, {.axis = labels.rank(), .batch_dims = labels.rank(), .from_end = false});
                               },
                           .reduction = options.reduction,
                           .ignore_class = options.ignore_class,
                           .from_softmax = options.axis == -1 ? on_logits(sparse_categorical_crossentropy, options) : nullptr},
                          options);
}

}  // namespace anyshape
