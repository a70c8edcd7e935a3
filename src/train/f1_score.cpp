// F1: the harmonic mean of precision and recall, per class.
#include "train/metric_impl.h"
#include "train/operands.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr double epsilon = 1e-7;  // Keras's, in every denominator

class F1Metric final : public MetricImpl {
 public:
  explicit F1Metric(F1Options options) : MetricImpl("f1_score"), options_(options) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [given, p, weight] =
        train::weighed({.name = name(), .is_elementwise = options_.threshold.has_value()}, target, prediction, sample_weight);
    build(p.shape()[-1]);
    const Tensor is_chosen =
        options_.threshold ? p > *options_.threshold : logical_and(p >= max(p, {.axes = {-1}, .keep_dims = true}), abs(p) > 1e-9);
    const Tensor y = cast(given, Dtype::f32), chosen = cast(is_chosen, Dtype::f32);
    add(true_positives_, per_class(chosen * y * weight));
    add(false_positives_, per_class(chosen * (1 - y) * weight));
    add(false_negatives_, per_class((1 - chosen) * y * weight));
    add(positives_, per_class(y * weight));
  }

  Tensor result() const override {
    if (!positives_.defined()) return options_.average == Average::None ? zeros({0}) : zeros({});
    const Tensor hits = true_positives_, precision = hits / (hits + false_positives_ + epsilon);
    const Tensor recall = hits / (hits + false_negatives_ + epsilon);
    const Tensor scores = 2 * precision * recall / (precision + recall + epsilon), shares = positives_;
    switch (options_.average) {
      case Average::None:
      case Average::Micro: return cast(scores, Dtype::f32);
      case Average::Macro: return cast(mean(scores), Dtype::f32);
      case Average::Weighted: break;
    }
    return cast(sum(scores * shares / (sum(shares) + epsilon)), Dtype::f32);
  }

 private:
  std::shared_ptr<MetricImpl> fresh() const override { return std::make_shared<F1Metric>(options_); }

  // Sums are made with the first batch, which tells the number of classes.
  void build(const Dim& classes) {
    if (positives_.defined()) return;
    const Shape shape = options_.average == Average::Micro ? Shape{} : Shape{classes.specialize()};
    true_positives_ = sum_variable(shape, "true_positives");
    false_positives_ = sum_variable(shape, "false_positives");
    false_negatives_ = sum_variable(shape, "false_negatives");
    positives_ = sum_variable(shape, "positives");
  }

  Tensor per_class(const Tensor& x) const {
    if (options_.average == Average::Micro) return sum(x);
    return sum(reshape(x, {-1, positives_.shape()[0]}), {.axes = {0}});
  }

  F1Options options_;
  Variable true_positives_, false_positives_, false_negatives_, positives_;
};

}  // namespace

Metric f1_score(F1Options options) {
  if (options.threshold && !(*options.threshold > 0 && *options.threshold <= 1)) {
    throw ArgumentError(fmt::format("f1_score: the threshold is {}; expected 0 < threshold <= 1.", *options.threshold));
  }
  return Metric(std::make_shared<F1Metric>(options));
}

}  // namespace anyshape
