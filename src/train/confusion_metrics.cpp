// Metrics on counts of right and wrong positives and negatives at thresholds: precision, recall, F1, AUC.
#include "nn/annotations.h"
#include "train/metric_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <functional>

namespace anyshape {
namespace {

// One number of each kind per threshold.
struct Confusion {
  Tensor true_positives, false_positives, true_negatives, false_negatives;
};
using Summary = std::function<Tensor(const Confusion&)>;

class ConfusionMetric final : public MetricImpl {
 public:
  ConfusionMetric(std::string name, std::vector<double> thresholds, Summary summary)
      : MetricImpl(std::move(name)), thresholds_(std::move(thresholds)), summary_(std::move(summary)) {
    const auto count = static_cast<int64_t>(thresholds_.size());
    true_positives_ = sum_variable({count}, "true_positives");
    false_positives_ = sum_variable({count}, "false_positives");
    true_negatives_ = sum_variable({count}, "true_negatives");
    false_negatives_ = sum_variable({count}, "false_negatives");
  }

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const Tensor mask = nn::mask_of(prediction);
    const Tensor p = reshape(prediction.values(), {-1});
    const Tensor is_positive = reshape(cast(target.values(), Dtype::f32), {-1}) > 0.5;
    Tensor weight = ones_like(cast(prediction.values(), Dtype::f32));
    auto multiply = [&](Tensor factor) {
      factor = cast(factor, Dtype::f32);
      while (factor.rank() < weight.rank()) factor = expand_dims(factor, -1);
      weight = weight * factor;
    };
    if (mask.defined()) multiply(mask);
    if (sample_weight.defined()) multiply(sample_weight);
    weight = reshape(weight, {-1});

    std::vector<float> limits(thresholds_.begin(), thresholds_.end());
    const Tensor is_chosen = expand_dims(p, 0) > expand_dims(tensor(limits, {static_cast<int64_t>(limits.size())}), 1);
    auto counted = [&](const Tensor& chosen, const Tensor& positive) {
      return sum(where(logical_and(chosen, expand_dims(positive, 0)), expand_dims(weight, 0), 0), {.axes = {1}});
    };
    const Tensor is_negative = logical_not(is_positive), is_left = logical_not(is_chosen);
    true_positives_.assign_add(counted(is_chosen, is_positive));
    false_positives_.assign_add(counted(is_chosen, is_negative));
    true_negatives_.assign_add(counted(is_left, is_negative));
    false_negatives_.assign_add(counted(is_left, is_positive));
  }

  Tensor result() const override { return summary_({true_positives_, false_positives_, true_negatives_, false_negatives_}); }
  std::shared_ptr<MetricImpl> clone() const override { return std::make_shared<ConfusionMetric>(name(), thresholds_, summary_); }

 private:
  std::vector<double> thresholds_;
  Summary summary_;
  Variable true_positives_, false_positives_, true_negatives_, false_negatives_;
};

Tensor ratio(const Tensor& part, const Tensor& whole) { return where(whole == 0, 0, part / where(whole == 0, 1, whole)); }

Tensor precisions(const Confusion& c) { return ratio(c.true_positives, c.true_positives + c.false_positives); }
Tensor recalls(const Confusion& c) { return ratio(c.true_positives, c.true_positives + c.false_negatives); }

Metric at_thresholds(std::string name, const ThresholdsOptions& options, const Summary& each) {
  const std::vector<double> thresholds = options.thresholds.empty() ? std::vector<double>{0.5} : options.thresholds;
  for (const double threshold : thresholds) {
    if (!(threshold >= 0 && threshold <= 1))
      throw ArgumentError(fmt::format("{}: a threshold is {}; expected 0 <= threshold <= 1.", name, threshold));
  }
  const bool is_single = thresholds.size() == 1;
  return Metric(std::make_shared<ConfusionMetric>(std::move(name), thresholds, [=](const Confusion& c) {
    const Tensor all = each(c);
    return is_single ? squeeze(all, {0}) : all;
  }));
}

Tensor head(const Tensor& x) { return slice(x, {{.end = -1}}); }
Tensor tail(const Tensor& x) { return slice(x, {{.begin = 1}}); }

// Area under the ROC curve, by trapezoids.
Tensor roc_area(const Confusion& c) {
  const Tensor x = ratio(c.false_positives, c.false_positives + c.true_negatives), y = recalls(c);
  return sum((head(x) - tail(x)) * (head(y) + tail(y)) * 0.5);
}

// Area under precision over recall, interpolated as in "The relationship between precision-recall and ROC curves" (Davis, Goadrich 2006).
Tensor precision_recall_area(const Confusion& c) {
  const Tensor hits = c.true_positives, chosen = c.true_positives + c.false_positives;
  const Tensor gained = head(hits) - tail(hits), picked = maximum(head(chosen) - tail(chosen), 0);
  const Tensor slope = ratio(gained, picked);
  const Tensor intercept = tail(hits) - slope * tail(chosen);
  const Tensor both = logical_and(head(chosen) > 0, tail(chosen) > 0);
  const Tensor growth = where(both, ratio(head(chosen), maximum(tail(chosen), 0)), 1);
  const Tensor area = ratio(slope * (gained + intercept * log(growth)), maximum(tail(hits) + tail(c.false_negatives), 0));
  return sum(area);
}

}  // namespace

Metric precision(ThresholdsOptions options) { return at_thresholds("precision", options, precisions); }
Metric recall(ThresholdsOptions options) { return at_thresholds("recall", options, recalls); }
Metric f1_score(ThresholdsOptions options) {
  return at_thresholds("f1_score", options, [](const Confusion& c) {
    return ratio(2 * c.true_positives, 2 * c.true_positives + c.false_positives + c.false_negatives);
  });
}

Metric auc(AucOptions options) {
  if (options.thresholds < 2) throw ArgumentError(fmt::format("auc: {} thresholds; expected at least 2.", options.thresholds));
  std::vector<double> thresholds = {-1e-7};
  const auto last = static_cast<double>(options.thresholds - 1);
  for (int64_t i = 1; i + 1 < options.thresholds; ++i) thresholds.push_back(static_cast<double>(i) / last);
  thresholds.push_back(1 + 1e-7);
  return Metric(
      std::make_shared<ConfusionMetric>("auc", std::move(thresholds), options.curve == Curve::Roc ? roc_area : precision_recall_area));
}

}  // namespace anyshape
