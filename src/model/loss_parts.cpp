// Parts as one small tensor: value and weight of each output, then what was added; or the metrics of the user's own step.
#include "model/loss_parts.h"

#include "graph/outside_trace.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace anyshape::model {
namespace {

constexpr double by_rows = std::numeric_limits<double>::quiet_NaN();  // instead of a weight that a step does not know

}  // namespace

Tensor LossParts::total() const {
  Tensor sum;
  for (size_t output = 0; output < outputs.size(); ++output) {
    const Tensor own = weights[output] == 1 ? outputs[output].value : outputs[output].value * weights[output];
    sum = sum.defined() ? sum + own : own;
  }
  return added.defined() ? sum + cast(added, sum.dtype()) : sum;
}

void PartsReport::leave(const LossParts& parts) {
  if (parts.outputs.size() == 1 && !parts.outputs[0].weight.defined()) return;
  std::vector<Tensor> numbers;
  for (const train::WeighedLoss& part : parts.outputs) {
    numbers.push_back(cast(part.value, Dtype::f64));
    numbers.push_back(part.weight.defined() ? cast(part.weight, Dtype::f64) : cast(Tensor(by_rows), Dtype::f64));
  }
  numbers.push_back(parts.added.defined() ? cast(parts.added, Dtype::f64) : zeros({}, {.dtype = Dtype::f64}));
  variable(static_cast<int64_t>(numbers.size())).assign(stack(numbers));
}

void PartsReport::leave(const std::vector<std::pair<std::string, Tensor>>& metrics) {
  std::vector<std::string> names;
  std::vector<Tensor> numbers;
  for (const auto& [name, value] : metrics) {
    if (!value.defined() || value.rank() != 0) {
      throw ArgumentError(
          fmt::format("fit: the step gives the metric \"{}\" as {}; expected one number. Take its mean.", name,
                      value.defined() ? to_string(TensorSpec{value.dtype(), value.shape(), {}}) : "an empty tensor handle"));
    }
    if (name.empty() || name == "loss" || std::ranges::find(names, name) != names.end()) {
      throw ArgumentError(fmt::format("fit: the step gives a metric called \"{}\"; expected a name that no other value has.", name));
    }
    names.push_back(name);
    numbers.push_back(cast(value, Dtype::f64));
  }
  {
    const std::scoped_lock lock(mutex_);
    if (values_.defined() && names != metrics_) {
      throw ArgumentError(fmt::format("fit: the step gives the metrics [{}], and gave [{}] before; expected the same in every batch.",
                                      fmt::join(names, ", "), fmt::join(metrics_, ", ")));
    }
    metrics_ = std::move(names);
  }
  if (!numbers.empty()) variable(static_cast<int64_t>(numbers.size())).assign(stack(numbers));
}

Variable PartsReport::variable(int64_t count) {
  const std::scoped_lock lock(mutex_);
  if (!values_.defined()) {
    const OutsideTrace outside;  // state of the model, whichever trace meets it first
    values_ = Variable(zeros({count}, {.dtype = Dtype::f64}), {.trainable = false, .name = "loss_parts"});
    seen_ = values_.read();
  }
  return values_;
}

std::optional<PartValues> PartsReport::take() {
  const std::scoped_lock lock(mutex_);
  if (!values_.defined()) return std::nullopt;
  Tensor now = values_.read();
  if (now.impl() == seen_.impl()) return std::nullopt;
  seen_ = std::move(now);
  const std::vector<double> numbers = seen_.to_vector<double>();
  if (!metrics_.empty()) {
    PartValues own;
    for (size_t i = 0; i < metrics_.size(); ++i) own.metrics.emplace_back(metrics_[i], numbers[i]);
    return own;
  }
  PartValues parts{.outputs = {}, .added = numbers.back()};
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    parts.outputs.push_back({numbers[i], std::isnan(numbers[i + 1]) ? std::nullopt : std::optional(numbers[i + 1])});
  }
  return parts;
}

}  // namespace anyshape::model
