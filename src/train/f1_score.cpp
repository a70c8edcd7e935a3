// F1: the harmonic mean of precision and recall, per class.
#include <anyshape/error.h>
#include <anyshape/metric.h>
#include <anyshape/ops.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr double epsilon = 1e-7;  // Keras's, in every denominator

class F1Metric final : public StreamingMetric {
 public:
  explicit F1Metric(F1Options options) : StreamingMetric("f1_score"), options_(options) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [given, p, weight] =
        weighed(target, prediction, sample_weight, options_.threshold ? TargetForm::Elements : TargetForm::Columns);
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
      case Average::Micro: return scores;
      case Average::Macro: return mean(scores);
      case Average::Weighted: break;
    }
    return sum(scores * shares / (sum(shares) + epsilon));
  }

 private:
  // Sums are made with the first batch, which tells the number of classes.
  void build(const Dim& classes) {
    if (positives_.defined()) {
      if (options_.average == Average::Micro || classes == positives_.shape()[0]) return;
      throw ShapeError(
          fmt::format("f1_score: the prediction has {} classes; expected {}, as in the batches before. Give each number of "
                      "classes a metric of its own.",
                      to_string(classes), to_string(positives_.shape()[0])));
    }
    const Shape shape = options_.average == Average::Micro ? Shape{} : Shape{classes};
    true_positives_ = running_sum("true_positives", shape);
    false_positives_ = running_sum("false_positives", shape);
    false_negatives_ = running_sum("false_negatives", shape);
    positives_ = running_sum("positives", shape);
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
  return with_config(Metric(F1Metric(options)), "f1_score", options);
}

}  // namespace anyshape
