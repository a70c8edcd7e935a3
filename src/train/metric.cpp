// The metric's handle, its sums, and metrics by name.
#include "base/near_names.h"
#include "graph/layer_path.h"
#include "graph/outside_trace.h"
#include "train/loss_impl.h"
#include "train/metric_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <algorithm>
#include <map>

namespace anyshape {

std::shared_ptr<MetricImpl> MetricImpl::clone() const {
  std::shared_ptr<MetricImpl> copy = fresh();
  copy->rename(name_);
  return copy;
}

void MetricImpl::reset() const {
  for (const Variable& sum : sums_) sum.assign(zeros(sum.shape(), {.dtype = sum.dtype()}));
}

Variable MetricImpl::sum_variable(const Shape& shape, const std::string& name) {
  const OutsideTrace outside;
  sums_.emplace_back(zeros(shape, {.dtype = Dtype::f64}), VariableOptions{.trainable = false, .name = name_ + "/" + name});
  return sums_.back();
}

void MetricImpl::add(const Variable& sum, const Tensor& batch) { sum.assign_add(cast(batch, Dtype::f64)); }

Tensor MetricImpl::ratio(const Tensor& part, const Tensor& whole) { return where(whole == 0, 0, part / where(whole == 0, 1, whole)); }

namespace {

MetricImpl& required(const std::shared_ptr<MetricImpl>& impl) {
  if (impl == nullptr) throw ArgumentError("metric: the handle is empty; expected a metric, its name, a loss or a callable.");
  return *impl;
}

const std::map<std::string, Metric (*)()>& named() {
  static const std::map<std::string, Metric (*)()> table = {
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
      {"root_mean_squared_error", [] { return root_mean_squared_error(); }},
  };
  return table;
}

}  // namespace

Metric::Metric(const char* name) : Metric(std::string(name)) {}

// A metric's name, or a loss's.
Metric::Metric(const std::string& name) {
  const auto found = named().find(name);
  if (found != named().end()) {
    impl_ = found->second().impl();
  } else {
    std::vector<std::string> names = train::loss_names();
    if (std::ranges::find(names, name) == names.end()) {
      for (const auto& each : named()) names.push_back(each.first);
      throw ArgumentError("metric: " + unknown_name("metric", name, names));
    }
    impl_ = Metric(Loss(name)).impl();
  }
  impl_->rename(name);  // reported as it was asked for
}

void Metric::update(const Tensor& target, const Tensor& prediction) const { update(target, prediction, {}); }
void Metric::update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const {
  MetricImpl& impl = required(impl_);
  const ScopedMetricName place(impl.name());
  impl.update(target, prediction, sample_weight);
}
Tensor Metric::result() const { return required(impl_).result(); }
void Metric::reset() const { required(impl_).reset(); }
Metric Metric::clone() const { return Metric(required(impl_).clone()); }
const std::string& Metric::name() const { return required(impl_).name(); }
std::vector<Variable> Metric::variables() const { return required(impl_).variables(); }

}  // namespace anyshape
