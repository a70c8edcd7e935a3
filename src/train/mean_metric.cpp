// Means over batches: the sum of weighted values and the sum of weights.
#include "train/mean_metric.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

enum class Root : uint8_t { None, Square };

class MeanMetric final : public MetricImpl {
 public:
  explicit MeanMetric(std::shared_ptr<const LossImpl> values, Root root = Root::None)
      : MetricImpl(values->name),
        values_(std::move(values)),
        root_(root),
        total_(sum_variable({}, "total")),
        count_(sum_variable({}, "count")) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const train::LossValues batch = train::loss_values(*values_, target, prediction, sample_weight);
    add(total_, train::weighted_sum(batch));
    add(count_, train::weighted_count(batch));
  }

  Tensor result() const override {
    const Tensor mean = ratio(total_, count_);
    return cast(root_ == Root::Square ? sqrt(mean) : mean, Dtype::f32);
  }

  std::shared_ptr<MetricImpl> fresh() const override { return std::make_shared<MeanMetric>(values_, root_); }

 private:
  std::shared_ptr<const LossImpl> values_;
  Root root_;
  Variable total_, count_;
};

}  // namespace

Metric train::mean_of_values(LossImpl values) {
  return Metric(std::make_shared<MeanMetric>(std::make_shared<const LossImpl>(std::move(values))));
}

Metric::Metric(const Loss& loss) {
  if (!loss.defined()) throw ArgumentError("metric: the loss is an empty handle; expected a loss.");
  impl_ = std::make_shared<MeanMetric>(loss.impl());
  if (loss.impl()->callable) impl_->rename("metric");  // it is not the loss beside which it is reported
}

Metric root_mean_squared_error() {
  LossImpl squares = *mean_squared_error().impl();
  squares.name = "root_mean_squared_error";
  return Metric(std::make_shared<MeanMetric>(std::make_shared<const LossImpl>(std::move(squares)), Root::Square));
}

Metric mean_metric(std::function<Tensor(const Tensor&, const Tensor&)> callable, std::string name) {
  return train::mean_of_values({.name = std::move(name), .callable = std::move(callable)});
}

}  // namespace anyshape
