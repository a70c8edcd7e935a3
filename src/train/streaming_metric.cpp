// The base of metrics: sums kept in variables, so that updating them is part of a traced step.
#include "base/no_fork.h"
#include "graph/clone_scope.h"
#include "graph/outside_trace.h"
#include "graph/stateful.h"
#include "train/metric_state.h"
#include "train/operands.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {

StreamingMetric::StreamingMetric(std::string name) : state_(std::make_shared<MetricState>(std::move(name))) {
  if (state_->name.empty()) throw ArgumentError("metric: the name is empty; expected one, under which its value is reported.");
}
StreamingMetric::~StreamingMetric() = default;

// While the metric is cloned, copies of its sums are clones: those here and the members of the class.
StreamingMetric::StreamingMetric(const StreamingMetric& other) : state_(other.state_) {
  if (CloneScope::current(state_.get()) == nullptr) return;
  state_ = std::make_shared<MetricState>(other.state_->name);
  state_->sums = other.state_->sums;
  state_->made = other.state_->made;
}

const std::string& StreamingMetric::name() const { return state_->name; }

void StreamingMetric::reset() {
  for (const Variable& sum : state_->sums) sum.assign(zeros(sum.shape(), {.dtype = sum.dtype()}));
}

Variable StreamingMetric::running_sum(const std::string& name, const Shape& shape) {
  const std::string own = state_->name + "/" + name;
  if (std::ranges::any_of(state_->sums, [&](const Variable& sum) { return sum.name() == own; })) {
    throw ArgumentError(fmt::format("metric \"{}\": two sums are named \"{}\"; expected each to be made once, with a name of its own.",
                                    state_->name, name));
  }
  std::vector<Dim> sizes;
  for (const Dim& size : shape) sizes.emplace_back(size.specialize());
  if (VariableScope* const scope = current_variable_scope(); scope != nullptr && !shape.is_constant()) scope->state_is_made();
  const OutsideTrace outside;
  const auto expected = state_->expected.find(own);
  const bool is_there = expected != state_->expected.end() && expected->second.shape().same_as(Shape(sizes));
  const Variable sum(is_there ? expected->second : zeros(Shape(sizes), {.dtype = Dtype::f64}), {.trainable = false, .name = own});
  const NoFork whole;
  state_->sums.push_back(sum);
  return sum;
}

void StreamingMetric::add(const Variable& sum, const Tensor& batch) { sum.assign_add(cast(batch, Dtype::f64)); }

Tensor StreamingMetric::ratio(const Tensor& part, const Tensor& whole) { return where(whole == 0, 0, part / where(whole == 0, 1, whole)); }

WeighedBatch StreamingMetric::weighed(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight, TargetForm form) const {
  return train::weighed({.name = name(),
                         .target = form == TargetForm::ClassNumbers ? train::TargetKind::Classes : train::TargetKind::Same,
                         .is_elementwise = form == TargetForm::Elements,
                         .counts_classes = true},
                        target, prediction, sample_weight);
}

}  // namespace anyshape
