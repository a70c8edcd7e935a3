// A metric that is the weighted mean of values per row, as losses have them.
#pragma once
#include "train/loss_impl.h"
#include "train/metric_impl.h"

namespace anyshape::train {

enum class Root { None, Square };

class MeanMetric final : public MetricImpl {
 public:
  MeanMetric(std::string name, std::shared_ptr<const LossImpl> values, Root root = Root::None);
  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override;
  Tensor result() const override;
  std::shared_ptr<MetricImpl> clone() const override;

 private:
  std::shared_ptr<const LossImpl> values_;
  Root root_;
  Variable total_, count_;
};

Metric mean_of_values(std::string name, LossImpl values, Root root = Root::None);

}  // namespace anyshape::train
