// The metric's handle, and metrics by name.
#include "config/lasting_registry.h"
#include "config/own_class.h"
#include "graph/clone_scope.h"
#include "graph/layer_path.h"
#include "graph/outside_trace.h"
#include "train/loss_impl.h"
#include "train/metric_state.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace anyshape {

namespace {

StreamingMetric& required(const std::shared_ptr<StreamingMetric>& metric) {
  if (metric == nullptr) throw ArgumentError("metric: the handle is empty; expected a metric, its name, a loss or a callable.");
  return *metric;
}

std::shared_ptr<Identity> identity_of(const std::shared_ptr<StreamingMetric>& metric) { return {metric, &metric->state()}; }

// A metric is reported as it was asked for: "acc", "mse".
void call_as_asked(const Config& config, void* made) {
  const std::string& asked = config.kind() == Config::Kind::Object ? config.class_name() : config.as_text();
  Metric& metric = **static_cast<std::optional<Metric>*>(made);
  MetricState& state = metric.metric()->state();
  if (state.name == asked) return;
  state.name = asked;
  detail::MadeAccess::set(metric, std::make_shared<const MadeAs>(Config::object(asked, metric.config().fields())));
}

bool make_of_loss(const Config& config, void* made) {
  const bool is_object = config.kind() == Config::Kind::Object;
  if (!is_object && config.kind() != Config::Kind::Text) return false;
  if (registry_of<Loss>().table().find(is_object ? config.class_name() : config.as_text()) == nullptr) return false;
  static_cast<std::optional<Metric>*>(made)->emplace(make<Loss>(config));
  call_as_asked(config, made);
  return true;
}

void add(Registry& registry, detail::RegistryEntry entry) {
  entry.make = [make = std::move(entry.make)](const Config& config, void* made) {
    make(config, made);
    call_as_asked(config, made);
  };
  registry.table().add(std::move(entry));
}

}  // namespace

template <>
Registry& registry_of<Metric>() {
  return lasting_registry([] {
    auto* const made = new Registry("metric", {.make = make_of_loss, .names = [] { return registry_of<Loss>().names(); }});
    add(*made, detail::registered("accuracy", accuracy, {"acc"}));
    add(*made, detail::registered("binary_accuracy", binary_accuracy));
    add(*made, detail::registered("categorical_accuracy", categorical_accuracy));
    add(*made, detail::registered("sparse_categorical_accuracy", sparse_categorical_accuracy));
    add(*made, detail::registered("top_k_categorical_accuracy", top_k_categorical_accuracy));
    add(*made, detail::registered("sparse_top_k_categorical_accuracy", sparse_top_k_categorical_accuracy));
    add(*made, detail::registered("precision", precision));
    add(*made, detail::registered("recall", recall));
    add(*made, detail::registered("f1_score", f1_score));
    add(*made, detail::registered("auc", auc));
    add(*made, detail::registered("root_mean_squared_error", root_mean_squared_error));
    return made;
  });
}

Metric::Metric() : Stateful("metric") {}
Metric::Metric(std::shared_ptr<StreamingMetric> metric, Copy copy)
    : Stateful(identity_of(metric)), metric_(std::move(metric)), copy_(copy) {}
Metric::Metric(const char* name) : Metric(std::string(name)) {}

Metric::Metric(const std::string& name) : Metric(make<Metric>(name)) {}

void Metric::set_made(std::shared_ptr<const detail::Made> made) { required(metric_).state().made = std::move(made); }
Config Metric::config() const {
  if (metric_ == nullptr) return {};
  if (metric_->state().made != nullptr) return metric_->state().made->config();
  return config_of_own(registry_of<Metric>(), *metric_);
}

void Metric::update(const Tensor& target, const Tensor& prediction) { update(target, prediction, {}); }
void Metric::update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) {
  StreamingMetric& own = required(metric_);
  const ScopedMetricName caller(own.name());
  own.update(target, prediction, sample_weight);
}

Tensor Metric::result() const {
  const Tensor value = required(metric_).result();
  if (!value.defined()) {
    throw ArgumentError(fmt::format("metric \"{}\": result() gave an empty tensor handle; expected a tensor.", name()));
  }
  return cast(value, Dtype::f32);
}

void Metric::reset() {
  StreamingMetric& own = required(metric_);
  own.state().expected.clear();
  own.reset();
}

// The sums are cloned and nothing else: what the metric holds besides, a network say, is the same for all.
Metric Metric::clone() const {
  const StreamingMetric& own = required(metric_);
  std::unordered_set<const void*> cloned = {&own.state()};
  for (const Variable& sum : own.state().sums) cloned.insert(sum.state().get());
  const OutsideTrace outside;
  std::shared_ptr<StreamingMetric> copy;
  {
    const CloneScope scope(std::move(cloned));
    copy = copy_(own);
  }
  copy->reset();
  return {std::move(copy), copy_};
}

const std::string& Metric::name() const { return required(metric_).name(); }
std::vector<Variable> Metric::variables() const { return required(metric_).state().sums; }

}  // namespace anyshape
