// The metric's handle, means of values, and metrics by name.
#include "base/near_names.h"
#include "graph/outside_trace.h"
#include "train/loss_impl.h"
#include "train/mean_metric.h"
#include "train/metric_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <map>

namespace anyshape {

void MetricImpl::reset() const {
  for (const Variable& sum : sums_) sum.assign(zeros(sum.shape(), {.dtype = sum.dtype()}));
}

Variable MetricImpl::sum_variable(const Shape& shape, const std::string& name) {
  const OutsideTrace outside;
  sums_.emplace_back(zeros(shape), VariableOptions{.trainable = false, .name = name_ + "/" + name});
  return sums_.back();
}

namespace train {

MeanMetric::MeanMetric(std::string name, std::shared_ptr<const LossImpl> values, Root root)
    : MetricImpl(std::move(name)),
      values_(std::move(values)),
      root_(root),
      total_(sum_variable({}, "total")),
      count_(sum_variable({}, "count")) {}

void MeanMetric::update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) {
  LossValues batch = loss_values(*values_, target, prediction, sample_weight);
  // A row counts once however many values it has: further axes are averaged first.
  const Tensor ones = batch.counts.defined() ? batch.counts : ones_like(batch.values);
  const Tensor weights = batch.weights.defined() ? batch.weights * ones : ones;
  total_.assign_add(cast(sum(batch.weights.defined() ? batch.values * batch.weights : batch.values), Dtype::f32));
  count_.assign_add(cast(sum(weights), Dtype::f32));
}

Tensor MeanMetric::result() const {
  const Tensor count = count_.read();
  const Tensor mean = where(count == 0, 0, total_.read() / where(count == 0, 1, count));
  return root_ == Root::Square ? sqrt(mean) : mean;
}

std::shared_ptr<MetricImpl> MeanMetric::clone() const { return std::make_shared<MeanMetric>(name(), values_, root_); }

Metric mean_of_values(std::string name, LossImpl values, Root root) {
  return Metric(std::make_shared<MeanMetric>(std::move(name), std::make_shared<const LossImpl>(std::move(values)), root));
}

}  // namespace train

namespace {

MetricImpl& required(const std::shared_ptr<MetricImpl>& impl) {
  if (impl == nullptr) throw ArgumentError("metric: the handle is empty; expected a metric, its name, a loss or a callable.");
  return *impl;
}

}  // namespace

Metric::Metric(const Loss& loss) {
  if (!loss.defined()) throw ArgumentError("metric: the loss is an empty handle; expected a loss.");
  impl_ = std::make_shared<train::MeanMetric>(loss.name(), loss.impl());
}

Metric::Metric(const char* name) : Metric(std::string(name)) {}

Metric::Metric(const std::string& name) {
  static const std::map<std::string, Metric (*)()> known = {
      {"accuracy", [] { return accuracy(); }},
      {"acc", [] { return accuracy(); }},
      {"binary_accuracy", [] { return binary_accuracy(); }},
      {"categorical_accuracy", [] { return categorical_accuracy(); }},
      {"sparse_categorical_accuracy", [] { return sparse_categorical_accuracy(); }},
      {"top_k_categorical_accuracy", [] { return top_k_categorical_accuracy(); }},
      {"sparse_top_k_categorical_accuracy", [] { return sparse_top_k_categorical_accuracy(); }},
      {"precision", [] { return precision(); }},
      {"recall", [] { return recall(); }},
      {"f1_score", [] { return f1_score(); }},
      {"auc", [] { return auc(); }},
      {"mse", [] { return Metric(mse()); }},
      {"mean_squared_error", [] { return Metric(mse()); }},
      {"mae", [] { return Metric(mae()); }},
      {"mean_absolute_error", [] { return Metric(mae()); }},
      {"root_mean_squared_error", [] { return root_mean_squared_error(); }},
      {"binary_crossentropy", [] { return Metric(binary_crossentropy()); }},
      {"categorical_crossentropy", [] { return Metric(categorical_crossentropy()); }},
      {"sparse_categorical_crossentropy", [] { return Metric(sparse_categorical_crossentropy()); }},
      {"hinge", [] { return Metric(hinge()); }},
      {"kl_divergence", [] { return Metric(kl_divergence()); }},
      {"cosine_similarity", [] { return Metric(cosine_similarity()); }},
  };
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& each : known) names.push_back(each.first);
    throw ArgumentError("metric: " + unknown_name("metric", name, names));
  }
  impl_ = found->second().impl();
  impl_->rename(name);  // reported as it was asked for
}

void Metric::update(const Tensor& target, const Tensor& prediction) const { required(impl_).update(target, prediction, {}); }
void Metric::update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const {
  required(impl_).update(target, prediction, sample_weight);
}
Tensor Metric::result() const { return required(impl_).result(); }
void Metric::reset() const { required(impl_).reset(); }
Metric Metric::clone() const { return Metric(required(impl_).clone()); }
const std::string& Metric::name() const { return required(impl_).name(); }
std::vector<Variable> Metric::variables() const { return required(impl_).variables(); }

}  // namespace anyshape
