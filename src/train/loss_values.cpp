// From target and prediction to values, and from values to one number: masks, ragged rows, sample weights and missing targets in one place.
#include "graph/named_call.h"
#include "graph/trace_scope.h"
#include "nn/notes.h"
#include "nn/whole_numbers.h"
#include "ops/source/size.h"
#include "tensor/view.h"
#include "train/loss_impl.h"
#include "train/result_shape.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {

std::optional<Dtype> LossImpl::target_dtype() const {
  return target == train::TargetKind::Classes ? std::optional(Dtype::i32) : std::nullopt;
}

namespace train {
namespace {

// Elements whose target is there: their sum, and how many they are.
LossValues present_elements(const LossImpl& loss, const Operands& operands) {
  const Tensor missing = is_nan(operands.target);
  // No NaN reaches the rule: a gradient of 0 times NaN would be one.
  const Tensor elements = loss.elements(where(missing, 0, operands.target), operands.prediction);
  return {.values = sum(where(missing, 0, elements), {.axes = {-1}}),
          .weights = {},
          .counts = sum(cast(logical_not(missing), elements.dtype()), {.axes = {-1}})};
}

// Rows or positions whose target is there as a whole.
LossValues present_values(const LossImpl& loss, const Operands& operands) {
  const Tensor missing = is_nan(operands.target), is_gap = any(missing, {.axes = {-1}});
  const Tensor values = loss.values(where(missing, 0, operands.target), operands.prediction);
  return {.values = where(is_gap, 0, values), .weights = {}, .counts = cast(logical_not(is_gap), values.dtype())};
}

LossValues all_values(const LossImpl& loss, const Operands& operands) {
  if (loss.elements)
    return {.values = mean(loss.elements(operands.target, operands.prediction), {.axes = {-1}}), .weights = {}, .counts = {}};
  return {.values = loss.values(operands.target, operands.prediction), .weights = {}, .counts = {}};
}

// What an op refuses of labels that have values is said about labels.
LossValues with_known_labels(const LossImpl& loss, const Operands& operands) {
  try {
    return all_values(loss, operands);
  } catch (const DataError&) {
    if (is_traced(operands.target) || is_traced(operands.prediction)) throw;
    const std::vector<int32_t> labels = operands.target.to_vector<int32_t>();
    const int64_t classes = operands.prediction.shape()[-1].value();
    const auto bad = std::ranges::find_if(labels, [&](int32_t label) { return label < 0 || label >= classes; });
    if (bad == labels.end()) throw;
    throw DataError(fmt::format("{}: {} at position {}; expected 0 <= label < {}, as the prediction has {} classes.{}", loss.name,
                                *bad == nn::no_index ? "a label is no whole number" : fmt::format("the label is {}", *bad),
                                bad - labels.begin(), classes, classes, current_place()));
  }
}

void apply_mask(const LossImpl& loss, LossValues& result, const Tensor& mask) {
  const Tensor real = broadcast_to(beside(loss.name, mask, result.values), result.values.shape());
  const Tensor ones = cast(real, result.values.dtype());
  result.values = where(real, result.values, 0);
  result.counts = result.counts.defined() ? result.counts * ones : ones;
}

void apply_weight(const LossImpl& loss, LossValues& result, const Tensor& weight) {
  result.weights = beside(loss.name, cast(weight, result.values.dtype()), result.values);
}

// A user's callable is a scope of its own: an `if` inside is one branch. What it reduced already, no mask can reach.
LossValues called_values(const LossImpl& loss, const Operands& given) {
  const Tensor called =
      run_scope([&]() -> FunctionResults {
        Tensor own = loss.callable(given.target, given.prediction);
        if (!own.defined()) {
          throw ArgumentError(fmt::format("{}: the callable returned an empty tensor handle; expected a tensor.", loss.name));
        }
        return {{std::move(own)}};
      }).tensors[0];
  const Tensor result = require_result_shape(loss.name, given, is_floating(called.dtype()) ? called : cast(called, Dtype::f32));
  LossValues values{.values = result.values(), .weights = {}, .counts = {}};
  if (result.is_ragged()) values.rows = as_ragged(result)->partition;
  const auto at_positions = [&](const Tensor& weight) { return result.is_ragged() ? per_position(loss.name, weight, result) : weight; };
  if (given.mask.defined() && given.mask.rank() <= result.rank()) apply_mask(loss, values, at_positions(given.mask));
  if (given.weight.defined()) apply_weight(loss, values, at_positions(given.weight));
  return values;
}

LossValues values_of(const LossImpl& loss, const Operands& given) {
  if (loss.choose) return values_of(*loss.choose(given.target, given.prediction), given);
  if (loss.callable) return called_values(loss, given);
  Operands operands = matched({.name = loss.name,
                               .target = loss.target,
                               .axis = loss.axis,
                               .other_form = loss.other_form,
                               .is_elementwise = loss.elements != nullptr},
                              given);
  if (loss.target == TargetKind::Classes && (loss.ignore_class || operands.mask.defined())) {
    const Tensor counted = loss.ignore_class ? operands.target != *loss.ignore_class : Tensor();
    const Tensor real = operands.mask.defined() ? beside(loss.name, operands.mask, operands.target) : Tensor();
    operands.mask = !real.defined() ? counted : counted.defined() ? logical_and(counted, real) : real;
    operands.target = where(operands.mask, operands.target, 0);  // what does not count need be no class
  }
  const bool may_miss = loss.ignore_missing && is_floating(given.target.dtype());
  LossValues result = loss.target == TargetKind::Classes ? with_known_labels(loss, operands)
                      : !may_miss                        ? all_values(loss, operands)
                      : loss.elements                    ? present_elements(loss, operands)
                                                         : present_values(loss, operands);
  result.rows = operands.rows;
  if (operands.mask.defined()) apply_mask(loss, result, operands.mask);
  if (operands.weight.defined()) apply_weight(loss, result, operands.weight);
  return result;
}

Tensor weighted(const LossValues& given, const Tensor& x) { return given.weights.defined() ? x * given.weights : x; }

Tensor count(const LossValues& given) {
  return given.counts.defined() ? sum(given.counts) : size_tensor(given.values.shape().count(), given.values.dtype());
}

Tensor divided(const Tensor& total, const Tensor& count) { return total / where(count == 0, 1, count); }

}  // namespace

Loss make_loss(LossImpl loss) { return Loss(std::make_shared<const LossImpl>(std::move(loss))); }

LossValues loss_values(const LossImpl& loss, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) {
  require_operand(loss.name, 0, target);
  require_operand(loss.name, 1, prediction);
  const nn::Logits logits = nn::logits_of(prediction);
  const std::shared_ptr<const LossImpl>& on_logits = logits.kind == nn::Probability::Sigmoid ? loss.from_sigmoid : loss.from_softmax;
  const bool has_logits = logits.value.defined() && on_logits != nullptr;
  return values_of(
      has_logits ? *on_logits : loss,
      {.target = target, .prediction = has_logits ? logits.value : prediction, .mask = nn::mask_of(prediction), .weight = sample_weight});
}

Tensor weighted_sum(const LossValues& given) { return sum(weighted(given, given.values)); }

Tensor weighted_count(const LossValues& given) {
  if (!given.weights.defined()) return count(given);
  return sum(given.counts.defined() ? weighted(given, given.counts) : broadcast_to(given.weights, given.values.shape()));
}

Tensor reduce(const LossValues& given, Reduction reduction) {
  switch (reduction) {
    case Reduction::None: {
      const Tensor values = weighted(given, given.counts.defined() ? divided(given.values, given.counts) : given.values);
      return given.rows == nullptr ? values : make_ragged(values, given.rows);
    }
    case Reduction::Sum: return weighted_sum(given);
    case Reduction::MeanWithSampleWeight: return divided(weighted_sum(given), weighted_count(given));
    case Reduction::SumOverBatchSize:
    case Reduction::Mean: break;
  }
  return divided(weighted_sum(given), count(given));  // of nothing: 0, and so are its gradients
}

WeighedLoss weighed_loss(const LossImpl& loss, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) {
  const LossValues given = loss_values(loss, target, prediction, sample_weight);
  const bool is_per_row = !given.counts.defined() && given.rows == nullptr && given.values.rank() < 2;
  switch (loss.reduction) {
    case Reduction::Sum: return {weighted_sum(given), {}};
    case Reduction::MeanWithSampleWeight: {
      const Tensor weight = weighted_count(given);
      return {divided(weighted_sum(given), weight), is_per_row && !given.weights.defined() ? Tensor() : weight};
    }
    case Reduction::None:
    case Reduction::SumOverBatchSize:
    case Reduction::Mean: break;
  }
  const Tensor number = count(given);
  return {divided(weighted_sum(given), number), is_per_row ? Tensor() : number};
}

}  // namespace train
}  // namespace anyshape
