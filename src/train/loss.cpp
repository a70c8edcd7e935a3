// Losses: from values per row to one number. Masks, ragged rows, sample weights and missing targets are all weights here.
#include "base/near_names.h"
#include "nn/annotations.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <map>

namespace anyshape {
namespace train {
namespace {

// a [rows] and b [rows, 1] belong together: the shorter one gets the last axis, never the two a broadcast [rows, rows].
Tensor with_rank_of(const Tensor& target, const Tensor& prediction) {
  if (target.rank() + 1 == prediction.rank() && prediction.shape()[-1].same_as(1)) return expand_dims(target, -1);
  if (target.rank() == prediction.rank() + 1 && target.shape()[-1].same_as(1)) return squeeze(target, {-1});
  return target;
}

// A mask or weight [rows] or [rows, time] under the shape of values that may have further axes.
Tensor aligned(Tensor weight, const Tensor& values) {
  while (weight.rank() < values.rank()) weight = expand_dims(weight, -1);
  if (weight.rank() > values.rank() && weight.shape()[-1].same_as(1)) weight = squeeze(weight, {-1});
  return weight;
}

Tensor times(const Tensor& a, const Tensor& b) { return a.defined() ? a * b : b; }

// Elements whose target is there, as the values of a loss; a row counts as often as it has such elements.
LossValues present_values(const LossImpl& loss, const Tensor& target, const Tensor& prediction) {
  const Tensor missing = is_nan(target);
  const Tensor there = cast(logical_not(missing), prediction.dtype());
  // Where nothing is known the prediction stands for the target: no NaN reaches the sum or its gradient.
  const Tensor filled = where(missing, stop_gradient(prediction), target);
  if (loss.elements) {
    const Tensor count = sum(there, {.axes = {-1}});
    return {sum(loss.elements(filled, prediction) * there, {.axes = {-1}}), {}, count};
  }
  const Tensor whole = min(there, {.axes = {-1}});
  return {loss.values(filled, prediction), whole, whole};
}

}  // namespace

LossValues loss_values(const LossImpl& loss, const Tensor& given, const Tensor& prediction, const Tensor& sample_weight) {
  if (prediction.is_ragged()) {  // every element is a position of its own; a row's weight is each of its elements'
    const Tensor weight = sample_weight.defined() && !sample_weight.is_ragged()
                              ? (sample_weight + zeros_like(cast(row_positions(prediction), sample_weight.dtype()))).values()
                              : (sample_weight.defined() ? sample_weight.values() : Tensor());
    if (!given.is_ragged()) {
      throw ShapeError(fmt::format("loss \"{}\": the prediction is ragged, {}, the target {}; expected a target with the same rows.",
                                   loss.name, to_string(prediction.shape()), to_string(given.shape())));
    }
    return loss_values(loss, given.values(), prediction.values(), weight);
  }
  Tensor target = loss.target_dtype ? cast(given, *loss.target_dtype) : given;
  if (loss.same_rank) target = with_rank_of(target, prediction);
  LossValues result = loss.ignore_missing && is_floating(target.dtype()) ? present_values(loss, target, prediction)
                                                                         : LossValues{loss.values(target, prediction), {}, {}};
  if (loss.counts) {
    const Tensor counted = aligned(cast(loss.counts(given), result.values.dtype()), result.values);
    result.weights = times(result.weights, counted);
    result.counts = times(result.counts, counted);
  }
  if (const Tensor mask = nn::mask_of(prediction); mask.defined()) {
    const Tensor real = aligned(cast(mask, result.values.dtype()), result.values);
    result.weights = times(result.weights, real);
    result.counts = times(result.counts, broadcast_to(real, result.values.shape()));
  }
  if (sample_weight.defined()) result.weights = times(result.weights, aligned(cast(sample_weight, result.values.dtype()), result.values));
  return result;
}

Tensor reduce(const LossValues& given, Reduction reduction) {
  const Tensor weighted = given.weights.defined() ? given.values * given.weights : given.values;
  if (reduction == Reduction::None) return weighted;
  const Tensor total = sum(weighted);
  if (reduction == Reduction::Sum) return total;
  const Tensor ones = ones_like(given.values);
  Tensor divisor = sum(given.counts.defined() ? given.counts : ones);
  if (reduction == Reduction::MeanWithSampleWeight && given.weights.defined()) divisor = sum(given.weights * ones);
  return total / where(divisor == 0, 1, divisor);  // of nothing: 0, and so are its gradients
}

}  // namespace train

Loss::Loss(std::function<Tensor(const Tensor&, const Tensor&)> callable)
    : impl_(std::make_shared<const LossImpl>(LossImpl{.name = "loss", .values = std::move(callable), .same_rank = false})) {}

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction) const { return (*this)(target, prediction, {}); }

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const {
  if (impl_ == nullptr) throw ArgumentError("loss: the handle is empty; expected a loss, its name or a callable.");
  return train::reduce(train::loss_values(*impl_, target, prediction, sample_weight), impl_->reduction);
}

const std::string& Loss::name() const {
  static const std::string none;
  return impl_ == nullptr ? none : impl_->name;
}

Loss::Loss(const char* name) : Loss(std::string(name)) {}

Loss::Loss(const std::string& name) {
  static const std::map<std::string, Loss (*)()> known = {
      {"mse", [] { return mean_squared_error(); }},
      {"mean_squared_error", [] { return mean_squared_error(); }},
      {"mae", [] { return mean_absolute_error(); }},
      {"mean_absolute_error", [] { return mean_absolute_error(); }},
      {"mape", [] { return mean_absolute_percentage_error(); }},
      {"mean_absolute_percentage_error", [] { return mean_absolute_percentage_error(); }},
      {"msle", [] { return mean_squared_logarithmic_error(); }},
      {"mean_squared_logarithmic_error", [] { return mean_squared_logarithmic_error(); }},
      {"huber", [] { return huber(); }},
      {"log_cosh", [] { return log_cosh(); }},
      {"hinge", [] { return hinge(); }},
      {"squared_hinge", [] { return squared_hinge(); }},
      {"poisson", [] { return poisson(); }},
      {"kl_divergence", [] { return kl_divergence(); }},
      {"cosine_similarity", [] { return cosine_similarity(); }},
      {"binary_crossentropy", [] { return binary_crossentropy(); }},
      {"categorical_crossentropy", [] { return categorical_crossentropy(); }},
      {"sparse_categorical_crossentropy", [] { return sparse_categorical_crossentropy(); }},
      {"binary_focal_crossentropy", [] { return binary_focal_crossentropy(); }},
  };
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& each : known) names.push_back(each.first);
    throw ArgumentError("loss: " + unknown_name("loss", name, names));
  }
  *this = found->second();
}

}  // namespace anyshape
