// How target and prediction meet: never by an unknown broadcast, so that [rows] beside [rows, 1] is no [rows, rows].
#include "train/operands.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "graph/ragged.h"
#include "nn/notes.h"
#include "nn/whole_numbers.h"
#include "ops/all_ops.h"
#include "ops/contraction/contract.h"
#include "shape/prove.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace anyshape::train {
namespace {

// The values of `x` where both have the same rows.
Tensor values_in_rows(const Tensor& x, const Tensor& ragged) {
  const std::array<Tensor, 2> inputs = {ragged, x};
  const Attrs none;
  return common_rows({same_rows_op, inputs, none}).operands[1].values();
}

// Held to these sizes; those of a trace become checks.
Tensor sized(const Tensor& x, const Shape& sizes, const char* whose) {
  std::vector<std::string> names;
  for (int axis = 0; axis < sizes.rank(); ++axis) names.push_back(fmt::format("axis {} of {}", axis, whose));
  return with_sizes(x, sizes, names);
}

bool is_one(const Dim& size) {
  const Facts* const facts = current_interpreter().facts();
  return size.same_as(1) || (facts != nullptr && facts->proves_equal(size, 1).value_or(false));
}

// "Use sparse_categorical_crossentropy for class numbers, or one_hot(target, 3)"
std::string columns_advice(const OperandRule& rule, const Dim& classes) {
  if (rule.counts_classes) {
    return fmt::format("a target of the prediction's shape. Give one_hot(target, {}) where the target has class numbers",
                       to_string(classes));
  }
  if (rule.other_form.empty()) return "a target of the prediction's shape";
  return fmt::format("a column per class. Use {} for class numbers, or give one_hot(target, {})", rule.other_form, to_string(classes));
}

Tensor as_prediction(const NamedCall& call, const OperandRule& rule, Tensor target, const Tensor& prediction) {
  const bool is_lower = target.rank() + 1 == prediction.rank();
  const bool has_one = is_lower || (target.rank() == prediction.rank() && target.rank() > 0 && is_one(target.shape()[-1]));
  if (has_one && prediction.shape()[-1].is_constant() && !prediction.shape()[-1].same_as(1)) {
    call.fail("the target (a) has one value where the prediction (b) has several", columns_advice(rule, prediction.shape()[-1]));
  }
  if (is_lower) target = expand_dims(target, -1);
  if (target.rank() == prediction.rank() + 1) target = squeeze(target, {-1});
  if (target.rank() != prediction.rank()) call.fail("target (a) and prediction (b) differ in rank", "a target of the prediction's shape");
  return sized(cast(target, prediction.dtype()), prediction.shape(), "prediction and target");
}

Tensor as_class_numbers(const NamedCall& call, const OperandRule& rule, Tensor target, const Tensor& prediction) {
  Shape sizes;
  for (int axis = 0; axis + 1 < prediction.rank(); ++axis) sizes.push_back(prediction.shape()[axis]);
  constexpr std::string_view wanted = "class numbers: a target of the prediction's shape without the axis of classes, or with a 1 there";
  if (target.rank() == prediction.rank()) {
    if (proves_equal(target.shape()[-1], 1) == false) {
      call.fail("the target (a) is one-hot, with a column per class",
                fmt::format("{}. {}argmax(target, {{.axis = -1}}) makes them", wanted,
                            rule.other_form.empty() ? "" : fmt::format("Use {} for one-hot targets; ", rule.other_form)));
    }
    target = squeeze(target, {-1});
  }
  if (target.rank() != sizes.rank()) call.fail("target (a) and prediction (b) do not fit in rank", wanted);
  return sized(cast(nn::as_indices(target), Dtype::i32), sizes, "prediction and target");
}

// Everything ragged in the rows of the prediction, as values.
Operands peeled(const NamedCall& call, const OperandRule& rule, const Operands& given) {
  const auto& [target, prediction, mask, weight, rows] = given;
  if (!prediction.is_ragged()) {
    if (target.is_ragged()) call.fail("the target (a) is ragged, the prediction (b) is not", "both ragged or both dense");
    return given;
  }
  if (!target.is_ragged()) call.fail("the prediction (b) is ragged, the target (a) is not", "a target with the prediction's rows");
  return {.target = values_in_rows(target, prediction),
          .prediction = prediction.values(),
          .mask = mask.defined() ? values_in_rows(mask, prediction) : mask,
          .weight = weight.defined() ? per_position(rule.name, weight, prediction) : weight,
          .rows = as_ragged(prediction)->partition};
}

}  // namespace

Operands matched(const OperandRule& rule, const Operands& given) {
  const NamedCall call(rule.name, given.target, given.prediction);
  const int rank = given.prediction.rank(), last = std::max(rank - 1, 0), axis = rank == 0 ? 0 : call.axis(rule.axis, rank);
  Operands result = peeled(call, rule, given);
  const int own_axis = axis - (result.rows != nullptr ? 1 : 0);
  const bool is_ragged = result.rows != nullptr && axis < 2, is_masked = result.mask.defined() && own_axis < result.mask.rank();
  if (rule.is_elementwise && axis == last && (rank < 2 || is_ragged || is_masked)) {
    result.prediction = expand_dims(result.prediction, -1);
    result.target = expand_dims(result.target, -1);
  } else if (rank == 0 || is_ragged || is_masked) {
    const char* const state = is_ragged ? "ragged" : is_masked ? "masked" : "not there";
    call.fail(fmt::format("axis {} of the prediction (b) is {}", axis, state),
              "a prediction with all its elements or classes along that axis");
  } else if (axis != last) {
    if (result.target.rank() == result.prediction.rank()) result.target = moveaxis(result.target, own_axis, -1);
    result.prediction = moveaxis(result.prediction, own_axis, -1);
  }
  result.target = rule.target == TargetKind::Classes ? as_class_numbers(call, rule, result.target, result.prediction)
                                                     : as_prediction(call, rule, result.target, result.prediction);
  return result;
}

WeighedBatch weighed(const OperandRule& rule, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) {
  require_operand(rule.name, 0, target);
  require_operand(rule.name, 1, prediction);
  const Operands operands =
      matched(rule, {.target = target, .prediction = prediction, .mask = nn::mask_of(prediction), .weight = sample_weight});
  Tensor weight = ones_like(rule.target == TargetKind::Classes ? operands.target : operands.prediction, {.dtype = Dtype::f32});
  for (const Tensor& factor : {operands.mask, operands.weight}) {
    if (factor.defined()) weight = weight * beside(rule.name, cast(factor, Dtype::f32), weight);
  }
  return {operands.target, operands.prediction, weight};
}

Tensor per_position(std::string_view name, const Tensor& given, const Tensor& ragged) {
  const NamedCall call(name, given, ragged);
  if (given.is_ragged()) return values_in_rows(given, ragged);
  if (given.rank() == 0) return given;
  const Tensor weight = given.rank() == 2 ? squeeze(given, {1}) : given;
  if (weight.rank() != 1) call.fail("the weight (a) has too many axes", "one weight per row of b, or ragged weights in the rows of b");
  const Partition& rows = *as_ragged(ragged)->partition;
  return segment::repeat(sized(weight, {rows.rows}, "values and weights"), rows.splits, rows.total);
}

Tensor beside(std::string_view name, const Tensor& given, const Tensor& values) {
  const NamedCall call(name, given, values);
  if (values.rank() == 0 && given.rank() > 0) call.fail("weights (a) of rows for a loss (b) that is one number", "one value per row");
  Tensor weight = given.rank() == values.rank() + 1 ? squeeze(given, {-1}) : given;
  if (weight.rank() > values.rank())
    call.fail("a weight (a) has more axes than the values (b) it weighs", "a weight per value, or per row");
  Shape sizes = weight.shape();
  for (int axis = 0; axis < weight.rank(); ++axis) {
    if (!sizes[axis].same_as(1)) sizes[axis] = values.shape()[axis];
  }
  weight = sized(weight, sizes, "values and weights");
  while (weight.rank() < values.rank()) weight = expand_dims(weight, -1);
  return weight;
}

}  // namespace anyshape::train
