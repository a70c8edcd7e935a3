// Losses on numbers: an error per element, the mean over the last axis per row.
#include "base/option_rules.h"
#include "train/loss_impl.h"

#include <anyshape/ops.h>

#include <cmath>

namespace anyshape {
namespace {

template <class Options>
Loss mean_of(std::string name, const Options& options, LossImpl::Rule elements) {
  return train::make_loss(
      {.name = std::move(name), .elements = std::move(elements), .reduction = options.reduction, .ignore_missing = options.ignore_missing},
      options);
}

constexpr double least = 1e-7;  // Keras's epsilon

// Labels 0 and 1 become -1 and 1. Element by element, so that a row's loss does not depend on the rows beside it.
Tensor signed_labels(const Tensor& target) { return where(target == 0, -1, target); }

}  // namespace

Loss mean_squared_error(LossOptions options) {
  return mean_of("mean_squared_error", options, [](const Tensor& y, const Tensor& p) { return square(p - y); });
}
Loss mean_absolute_error(LossOptions options) {
  return mean_of("mean_absolute_error", options, [](const Tensor& y, const Tensor& p) { return abs(p - y); });
}
Loss mean_absolute_percentage_error(LossOptions options) {
  return mean_of("mean_absolute_percentage_error", options,
                 [](const Tensor& y, const Tensor& p) { return 100 * abs((y - p) / maximum(abs(y), least)); });
}
Loss mean_squared_logarithmic_error(LossOptions options) {
  return mean_of("mean_squared_logarithmic_error", options,
                 [](const Tensor& y, const Tensor& p) { return square(log1p(maximum(p, least)) - log1p(maximum(y, least))); });
}
Loss huber(HuberOptions options) {
  require::positive("huber", "delta", options.delta);
  return mean_of("huber", options, [delta = options.delta](const Tensor& y, const Tensor& p) {
    const Tensor error = abs(p - y);
    return where(error <= delta, 0.5 * square(error), delta * error - 0.5 * delta * delta);
  });
}
Loss log_cosh(LossOptions options) {  // x + softplus(-2x) - log 2 does not overflow
  return mean_of("log_cosh", options, [](const Tensor& y, const Tensor& p) {
    const Tensor error = p - y;
    return error + softplus(-2 * error) - std::log(2.0);
  });
}
Loss hinge(LossOptions options) {
  return mean_of("hinge", options, [](const Tensor& y, const Tensor& p) { return maximum(1 - signed_labels(y) * p, 0); });
}
Loss squared_hinge(LossOptions options) {
  return mean_of("squared_hinge", options, [](const Tensor& y, const Tensor& p) { return square(maximum(1 - signed_labels(y) * p, 0)); });
}
Loss poisson(LossOptions options) {
  return mean_of("poisson", options, [](const Tensor& y, const Tensor& p) { return p - y * log(p + least); });
}

Loss kl_divergence(LossOptions options) {
  return train::make_loss({.name = "kl_divergence",
                           .values =
                               [](const Tensor& target, const Tensor& prediction) {
                                 const Tensor y = clip(target, least, 1), p = clip(prediction, least, 1);
                                 return sum(y * log(y / p), {.axes = {-1}});
                               },
                           .reduction = options.reduction,
                           .ignore_missing = options.ignore_missing},
                          options);
}

Loss cosine_similarity(CosineSimilarityOptions options) {
  return train::make_loss({.name = "cosine_similarity",
                           .axis = options.axis,
                           .values =
                               [](const Tensor& target, const Tensor& prediction) {
                                 auto unit = [](const Tensor& x) {
                                   return x * rsqrt(maximum(sum(square(x), {.axes = {-1}, .keep_dims = true}), 1e-12));
                                 };
                                 return -sum(unit(target) * unit(prediction), {.axes = {-1}});
                               },
                           .reduction = options.reduction,
                           .ignore_missing = options.ignore_missing},
                          options);
}

}  // namespace anyshape
