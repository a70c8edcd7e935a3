// Means over batches: the sum of weighted values and the sum of weights.
#include "train/mean_metric.h"
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "train/metric_state.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

enum class Root : uint8_t { None, Square };

class MeanMetric final : public StreamingMetric {
 public:
  explicit MeanMetric(std::shared_ptr<const LossImpl> values, Root root = Root::None)
      : StreamingMetric(values->name), values_(std::move(values)), root_(root) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const train::LossValues batch = train::loss_values(*values_, target, prediction, sample_weight);
    add(total_, train::weighted_sum(batch));
    add(count_, train::weighted_count(batch));
  }

  Tensor result() const override {
    const Tensor mean = ratio(total_, count_);
    return root_ == Root::Square ? sqrt(mean) : mean;
  }

 private:
  std::shared_ptr<const LossImpl> values_;
  Root root_;
  Variable total_ = running_sum("total"), count_ = running_sum("count");
};

}  // namespace

Metric train::mean_of_values(LossImpl values) { return MeanMetric(std::make_shared<const LossImpl>(std::move(values))); }

Metric::Metric(const Loss& loss) : Metric() {
  if (!loss.defined()) throw ArgumentError("metric: the loss is an empty handle; expected a loss.");
  *this = MeanMetric(loss.impl());
  metric_->state().made = std::make_shared<const MadeAs>(loss.config());
  if (loss.impl()->callable) metric_->state().name = "metric";  // it is not the loss beside which it is reported
}

Metric root_mean_squared_error() {
  LossImpl squares = *mean_squared_error().impl();
  squares.name = "root_mean_squared_error";
  return with_config(Metric(MeanMetric(std::make_shared<const LossImpl>(std::move(squares)), Root::Square)), "root_mean_squared_error");
}

Metric mean_metric(std::function<Tensor(const Tensor&, const Tensor&)> callable, std::string name) {
  Metric metric =
      train::mean_of_values({.name = std::move(name), .callable = require::callable("mean_metric", "the callable", std::move(callable))});
  detail::MadeAccess::set(metric, std::make_shared<const MadeAs>(Config::callable("metric")));
  return metric;
}

}  // namespace anyshape
