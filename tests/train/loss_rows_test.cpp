// Ragged = padded and masked = row by row, for every loss, in value and gradients.
#include "train/rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace anyshape::test {
namespace {

struct LossCase {
  std::string name;
  std::function<Loss(Reduction)> loss;
  Targets targets;
  bool is_elementwise;
};

std::vector<LossCase> all_losses() {
  std::vector<LossCase> cases;
  const auto add = [&](Loss (*make)(LossOptions), Targets targets, bool is_elementwise = true) {
    cases.push_back({make({}).name(), [=](Reduction reduction) { return make({.reduction = reduction}); }, targets, is_elementwise});
  };
  add(mean_squared_error, Targets::Numbers);
  add(mean_absolute_error, Targets::Numbers);
  add(mean_absolute_percentage_error, Targets::Numbers);
  add(mean_squared_logarithmic_error, Targets::Numbers);
  add(log_cosh, Targets::Numbers);
  add(poisson, Targets::Numbers);
  add(hinge, Targets::Binary);
  add(squared_hinge, Targets::Binary);
  add(kl_divergence, Targets::Numbers, false);
  cases.push_back({"huber", [](Reduction reduction) { return huber({.delta = 0.2, .reduction = reduction}); }, Targets::Numbers, true});
  cases.push_back(
      {"cosine_similarity", [](Reduction reduction) { return cosine_similarity({.reduction = reduction}); }, Targets::Numbers, false});
  for (const bool logits : {false, true}) {
    const std::string suffix = logits ? "_from_logits" : "";
    cases.push_back(
        {"binary_crossentropy" + suffix,
         [=](Reduction reduction) { return binary_crossentropy({.from_logits = logits, .label_smoothing = 0.1, .reduction = reduction}); },
         Targets::Binary, true});
    cases.push_back({"binary_focal_crossentropy" + suffix,
                     [=](Reduction reduction) { return binary_focal_crossentropy({.from_logits = logits, .reduction = reduction}); },
                     Targets::Binary, true});
    cases.push_back({"categorical_crossentropy" + suffix,
                     [=](Reduction reduction) {
                       return categorical_crossentropy({.from_logits = logits, .label_smoothing = 0.1, .reduction = reduction});
                     },
                     Targets::OneHot, false});
    cases.push_back({"sparse_categorical_crossentropy" + suffix,
                     [=](Reduction reduction) { return sparse_categorical_crossentropy({.from_logits = logits, .reduction = reduction}); },
                     Targets::Classes, false});
  }
  return cases;
}

enum class Weights : uint8_t { None, PerRow, PerPosition };

struct Rows {
  Lengths lengths;
  Tensor target;  // [total, ...]
  Weights weights;
};

Tensor row_weights(const Rows& rows) { return numbers({static_cast<int64_t>(rows.lengths.size())}, 3); }
Tensor position_weights(const Rows& rows) { return numbers({total_of(rows.lengths)}, 4); }

struct Outcome {
  Tensor value;
  Tensor gradient;  // of all positions of all rows
};

// What `loss_of` gives for predictions [total, ...], and its gradient. Values that are not reduced are squared to have one number.
Outcome outcome(const Tensor& values, const std::function<Tensor(const Tensor&)>& loss_of) {
  GradientTape tape;
  tape.watch(values);
  const Tensor value = loss_of(values);
  const Tensor scalar = value.rank() == 0 ? value : sum(square(value.values()));
  return {value.values(), tape.gradient(scalar, values, {.unreached = Unreached::Zeros})};
}

Tensor weighted(const Loss& loss, const Tensor& target, const Tensor& prediction, const Tensor& weight) {
  return weight.defined() ? loss(target, prediction, weight) : loss(target, prediction);
}

Tensor as_ragged_rows(const Loss& loss, const Rows& rows, const Tensor& values) {
  const Tensor lengths = lengths_tensor(rows.lengths), prediction = ragged_from_lengths(values, lengths);
  const Tensor weight = rows.weights == Weights::PerRow        ? row_weights(rows)
                        : rows.weights == Weights::PerPosition ? with_rows_of(position_weights(rows), prediction)
                                                               : Tensor();
  return weighted(loss, with_rows_of(rows.target, prediction), prediction, weight);
}

Tensor as_masked_rows(const Loss& loss, const Rows& rows, const Tensor& values, bool is_reduced) {
  const Tensor ragged = ragged_from_lengths(values, lengths_tensor(rows.lengths)), prediction = masked(ragged);
  const Tensor weight = rows.weights == Weights::PerRow        ? row_weights(rows)
                        : rows.weights == Weights::PerPosition ? to_padded(with_rows_of(position_weights(rows), ragged))
                                                               : Tensor();
  const Tensor value = weighted(loss, to_padded(with_rows_of(rows.target, ragged)), prediction, weight);
  return is_reduced ? value : boolean_mask(value, nn::mask_of(prediction));
}

// Rows alone, each position a row of a dense batch; combined by their number of real positions or by their weights.
Tensor one_by_one(const std::function<Loss(Reduction)>& make, Reduction reduction, const Rows& rows, const Tensor& values) {
  const std::vector<Tensor> targets = split_rows(rows.target, rows.lengths), predictions = split_rows(values, rows.lengths);
  const std::vector<Tensor> weights = split_rows(position_weights(rows), rows.lengths);
  const std::vector<double> of_rows = row_weights(rows).to_vector<double>();
  const bool is_none = reduction == Reduction::None;
  const Loss loss = make(is_none ? Reduction::None : Reduction::Sum);
  Tensor total = cast(0.0, Dtype::f64);
  double count = 0, weight_sum = 0;
  std::vector<Tensor> parts = {zeros({0}, {.dtype = Dtype::f64})};
  for (size_t r = 0; r < rows.lengths.size(); ++r) {
    Tensor weight = ones({rows.lengths[r]}, {.dtype = Dtype::f64});
    if (rows.weights == Weights::PerRow) weight = weight * of_rows[r];
    if (rows.weights == Weights::PerPosition) weight = weights[r];
    const Tensor own = loss(targets[r], predictions[r], weight);
    parts.push_back(own);
    total = total + sum(own);
    count += static_cast<double>(rows.lengths[r]);
    weight_sum += sum(weight).item<double>();
  }
  if (is_none) return concat(parts, {.axis = 0});
  if (reduction == Reduction::Sum) return total;
  const double divisor = reduction == Reduction::MeanWithSampleWeight ? weight_sum : count;
  return total / (divisor == 0 ? 1 : divisor);
}

void expect_same(const Outcome& got, const Outcome& wanted, const std::string& what) {
  ASSERT_EQ(to_string(got.value.shape()), to_string(wanted.value.shape())) << what;
  EXPECT_TRUE(all_close(got.value, wanted.value, {.relative = 1e-10, .absolute = 1e-10})) << what << "\n"
                                                                                          << to_string(got.value) << "\nexpected\n"
                                                                                          << to_string(wanted.value);
  EXPECT_TRUE(all_close(got.gradient, wanted.gradient, {.relative = 1e-10, .absolute = 1e-10})) << what << " gradient\n"
                                                                                                << to_string(got.gradient) << "\nexpected\n"
                                                                                                << to_string(wanted.gradient);
}

class LossOfRows : public testing::TestWithParam<LossCase> {};

TEST_P(LossOfRows, is_the_same_ragged_masked_and_row_by_row) {
  const LossCase& each = GetParam();
  for (const Lengths& lengths : all_lengths()) {
    const int64_t total = total_of(lengths);
    for (const int64_t classes : {int64_t{4}, int64_t{0}}) {  // without an axis of its own, each element is a position
      if (classes == 0 && !each.is_elementwise) continue;
      const Tensor values = numbers(classes == 0 ? Shape{total} : Shape{total, classes}, 1);
      for (const Weights weights : {Weights::None, Weights::PerRow, Weights::PerPosition}) {
        const Rows rows{lengths, targets(each.targets, total, classes), weights};
        for (const Reduction reduction : {Reduction::SumOverBatchSize, Reduction::Sum, Reduction::MeanWithSampleWeight, Reduction::None}) {
          const std::string what = each.name + ", " + std::to_string(lengths.size()) + " rows, " + std::to_string(total) + " positions, " +
                                   std::to_string(classes) + " columns, weights " + std::to_string(static_cast<int>(weights)) +
                                   ", reduction " + std::to_string(static_cast<int>(reduction));
          const Loss loss = each.loss(reduction);
          const Outcome wanted = outcome(values, [&](const Tensor& x) { return one_by_one(each.loss, reduction, rows, x); });
          expect_same(outcome(values, [&](const Tensor& x) { return as_ragged_rows(loss, rows, x); }), wanted, what + ", ragged");
          if (lengths.empty()) continue;
          expect_same(outcome(values, [&](const Tensor& x) { return as_masked_rows(loss, rows, x, reduction != Reduction::None); }), wanted,
                      what + ", masked");
        }
      }
    }
  }
}

TEST_P(LossOfRows, has_one_trace_for_all_rows) {
  const LossCase& each = GetParam();
  const Loss loss = each.loss(Reduction::SumOverBatchSize);
  auto of_ragged = function(
      [&](Tensor target, Tensor rows, Tensor weight) {
        GradientTape tape;
        const Tensor values = rows.values();
        tape.watch(values);
        const Tensor value = loss(target, with_rows_of(values, rows), weight);
        return std::pair(value, tape.gradient(value, values));
      },
      {.name = "of_ragged"});
  auto of_masked = function(
      [&](Tensor target, Tensor padded, Tensor mask, Tensor weight) {
        GradientTape tape;
        tape.watch(padded);
        const Tensor value = loss(target, nn::with_mask(padded, mask), weight);
        return std::pair(value, tape.gradient(value, padded));
      },
      {.name = "of_masked"});
  for (const Lengths& lengths : all_lengths()) {
    const int64_t total = total_of(lengths);
    const Tensor values = numbers({total, 4}, 1), weight = numbers({static_cast<int64_t>(lengths.size())}, 3);
    const Rows rows{lengths, targets(each.targets, total, 4), Weights::PerRow};
    const Outcome wanted = outcome(values, [&](const Tensor& x) { return as_ragged_rows(loss, rows, x); });
    const Tensor prediction = ragged_from_lengths(values, lengths_tensor(lengths)), target = with_rows_of(rows.target, prediction);
    const auto [value, gradient] = of_ragged(target, prediction, weight);
    expect_same({value, gradient}, wanted, each.name + " ragged");
    if (lengths.empty()) continue;
    const Tensor padded = masked(prediction);
    const auto [masked_value, masked_gradient] = of_masked(to_padded(target), padded, nn::mask_of(padded), weight);
    expect_same({masked_value, boolean_mask(masked_gradient, nn::mask_of(padded))}, wanted, each.name + " masked");
  }
  EXPECT_EQ(of_ragged.stats().traces, 1);
  EXPECT_EQ(of_masked.stats().traces, 1);
}

INSTANTIATE_TEST_SUITE_P(Losses, LossOfRows, testing::ValuesIn(all_losses()),
                         [](const testing::TestParamInfo<LossCase>& info) { return info.param.name; });

}  // namespace
}  // namespace anyshape::test
