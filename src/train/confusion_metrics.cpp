// Metrics on counts of hits and false alarms at thresholds: precision, recall, AUC.
#include <anyshape/error.h>
#include <anyshape/metric.h>
#include <anyshape/ops.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

#include <functional>

namespace anyshape {
namespace {

// Of what is above each threshold: how much is positive, how much is not; and of everything.
struct Confusion {
  Tensor true_positives, false_positives;  // [thresholds]
  Tensor positives, negatives;             // []
};
using Summary = std::function<Tensor(const Confusion&)>;

class ConfusionMetric : public StreamingMetric {
 public:
  ConfusionMetric(std::string name, std::vector<double> thresholds, Summary summary)
      : StreamingMetric(std::move(name)), thresholds_(std::move(thresholds)), summary_(std::move(summary)) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [y, p, weight] = weighed(target, prediction, sample_weight);
    const Tensor is_positive = y > 0.5;
    const Tensor positive = reshape(where(is_positive, weight, 0), {1, -1}), negative = reshape(where(is_positive, 0, weight), {1, -1});
    const Tensor limits = cast(tensor(thresholds_, {count(), 1}), p.dtype());
    const Tensor is_above = reshape(p, {1, -1}) > limits;
    add(true_positives_, sum(where(is_above, positive, 0), {.axes = {1}}));
    add(false_positives_, sum(where(is_above, negative, 0), {.axes = {1}}));
    add(positives_, sum(positive));
    add(negatives_, sum(negative));
  }

  Tensor result() const override { return summary_({true_positives_, false_positives_, positives_, negatives_}); }

  static Tensor precisions(const Confusion& c) { return ratio(c.true_positives, c.true_positives + c.false_positives); }
  static Tensor recalls(const Confusion& c) { return ratio(c.true_positives, c.positives); }
  static Tensor roc_area(const Confusion& c);
  static Tensor precision_recall_area(const Confusion& c);

 private:
  int64_t count() const { return static_cast<int64_t>(thresholds_.size()); }

  std::vector<double> thresholds_;
  Summary summary_;
  Variable true_positives_ = running_sum("true_positives", {count()}), false_positives_ = running_sum("false_positives", {count()});
  Variable positives_ = running_sum("positives"), negatives_ = running_sum("negatives");
};

Metric at_thresholds(const std::string& name, const ThresholdsOptions& options, const Summary& each) {
  const std::vector<double> thresholds = options.thresholds.empty() ? std::vector<double>{0.5} : options.thresholds;
  for (const double threshold : thresholds) {
    if (!(threshold >= 0 && threshold <= 1))
      throw ArgumentError(fmt::format("{}: a threshold is {}; expected 0 <= threshold <= 1.", name, threshold));
  }
  const bool is_single = thresholds.size() == 1;
  const ConfusionMetric metric(name, thresholds, [=](const Confusion& c) {
    const Tensor all = each(c);
    return is_single ? squeeze(all, {0}) : all;
  });
  return with_config(Metric(metric), name, options);
}

// Neighbours along the thresholds.
Tensor lower(const Tensor& x) { return slice(x, {{.end = -1}}); }
Tensor upper(const Tensor& x) { return slice(x, {{.begin = 1}}); }

// By trapezoids.
Tensor ConfusionMetric::roc_area(const Confusion& c) {
  const Tensor x = ratio(c.false_positives, c.negatives), y = recalls(c);
  return sum((lower(x) - upper(x)) * (lower(y) + upper(y)) * 0.5);
}

// Interpolated as in "The relationship between precision-recall and ROC curves" (Davis, Goadrich 2006).
Tensor ConfusionMetric::precision_recall_area(const Confusion& c) {
  const Tensor hits = c.true_positives, chosen = c.true_positives + c.false_positives;
  const Tensor gained = lower(hits) - upper(hits), slope = ratio(gained, maximum(lower(chosen) - upper(chosen), 0));
  const Tensor intercept = upper(hits) - slope * upper(chosen);
  const Tensor are_chosen = logical_and(lower(chosen) > 0, upper(chosen) > 0);
  const Tensor growth = where(are_chosen, ratio(lower(chosen), upper(chosen)), 1);
  return sum(ratio(slope * (gained + intercept * log(growth)), c.positives));
}

}  // namespace

Metric precision(ThresholdsOptions options) { return at_thresholds("precision", options, ConfusionMetric::precisions); }
Metric recall(ThresholdsOptions options) { return at_thresholds("recall", options, ConfusionMetric::recalls); }

Metric auc(AucOptions options) {
  if (options.thresholds < 2) throw ArgumentError(fmt::format("auc: {} thresholds; expected at least 2.", options.thresholds));
  std::vector<double> thresholds = {-1e-7};
  const auto last = static_cast<double>(options.thresholds - 1);
  for (int64_t i = 1; i + 1 < options.thresholds; ++i) thresholds.push_back(static_cast<double>(i) / last);
  thresholds.push_back(1 + 1e-7);
  const ConfusionMetric metric("auc", std::move(thresholds),
                               options.curve == Curve::Roc ? ConfusionMetric::roc_area : ConfusionMetric::precision_recall_area);
  return with_config(Metric(metric), "auc", options);
}

}  // namespace anyshape
