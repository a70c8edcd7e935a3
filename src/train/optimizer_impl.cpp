// One step of any optimizer: clip, decay, update by the rule, count.
#include "train/optimizer_impl.h"

#include "graph/outside_trace.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

Tensor norm_of(const Tensor& gradient) { return sqrt(sum(square(gradient))); }

// Scaled down where the norm exceeds the limit, else as it is.
Tensor limited(const Tensor& gradient, const Tensor& norm, double limit) { return gradient * (limit / maximum(norm, limit)); }

}  // namespace

OptimizerImpl::OptimizerImpl(OptimizerSettings settings, std::vector<double> slots, UpdateRule rule)
    : Identity("optimizer"), settings_(std::move(settings)), starts_(std::move(slots)), rule_(std::move(rule)) {
  const int clips = (settings_.clipnorm != 0 ? 1 : 0) + (settings_.clipvalue != 0 ? 1 : 0) + (settings_.global_clipnorm != 0 ? 1 : 0);
  if (clips > 1) {
    throw ArgumentError(
        fmt::format("{}: clipnorm, clipvalue and global_clipnorm exclude each other; expected at most one of them.", settings_.name));
  }
  if (settings_.clipnorm < 0 || settings_.clipvalue < 0 || settings_.global_clipnorm < 0 || settings_.weight_decay < 0) {
    throw ArgumentError(fmt::format("{}: a limit or the weight decay is negative; expected 0 (off) or more.", settings_.name));
  }
  const OutsideTrace outside;
  iterations_ = Variable(zeros({}, {.dtype = Dtype::i64}), {.trainable = false, .name = "iterations"});
  if (settings_.learning_rate.is_constant()) {
    rate_ = Variable(full({}, static_cast<float>(settings_.learning_rate.rate())), {.trainable = false, .name = "learning_rate"});
  }
}

Tensor OptimizerImpl::rate() const { return rate_.defined() ? rate_.read() : settings_.learning_rate(iterations_.read()); }

void OptimizerImpl::set_rate(double rate) {
  if (!rate_.defined()) {
    throw ArgumentError(fmt::format("{}: the learning rate is set to {}, but a schedule decides it; expected an optimizer with a number.",
                                    settings_.name, rate));
  }
  rate_.assign(full({}, static_cast<float>(rate)));
}

const std::vector<Variable>& OptimizerImpl::slots_of(const Variable& variable) {
  const std::scoped_lock lock(mutex_);
  const auto [place, is_new] = slots_.try_emplace(variable.id());
  if (!is_new) return place->second;
  order_.push_back(variable.id());
  const OutsideTrace outside;  // state, whichever trace meets the variable first
  for (size_t slot = 0; slot < starts_.size(); ++slot) {
    place->second.emplace_back(full(variable.shape(), cast(Tensor(starts_[slot]), variable.dtype())),
                               VariableOptions{.trainable = false, .name = fmt::format("{}/{}/{}", settings_.name, variable.name(), slot)});
  }
  return place->second;
}

void OptimizerImpl::build(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) slots_of(variable);
}

std::vector<Tensor> OptimizerImpl::clipped(std::vector<Tensor> gradients) const {
  if (settings_.global_clipnorm != 0) {
    Tensor total = 0.0F;
    for (const Tensor& gradient : gradients) total = total + sum(square(gradient));
    for (Tensor& gradient : gradients) gradient = limited(gradient, sqrt(total), settings_.global_clipnorm);
  }
  for (Tensor& gradient : gradients) {
    if (settings_.clipnorm != 0) gradient = limited(gradient, norm_of(gradient), settings_.clipnorm);
    if (settings_.clipvalue != 0) gradient = clip(gradient, -settings_.clipvalue, settings_.clipvalue);
  }
  return gradients;
}

void OptimizerImpl::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size()) {
    throw ArgumentError(fmt::format("{}: got {} gradients for {} variables; expected one per variable.", settings_.name, gradients.size(),
                                    variables.size()));
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i].shape().same_as(variables[i].shape())) continue;
    throw ShapeError(fmt::format("{}: gradient {} is {}, its variable \"{}\" {}; expected equal shapes.", settings_.name, i,
                                 to_string(gradients[i].shape()), variables[i].name(), to_string(variables[i].shape())));
  }
  const Tensor rate = this->rate();
  const Tensor step = iterations_.read() + 1;
  const std::vector<Tensor> limited = clipped(gradients);
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const std::vector<Variable>& slots = slots_of(variable);
    std::vector<Tensor> values(slots.begin(), slots.end());
    const Tensor own_rate = cast(rate, variable.dtype());
    Tensor value = variable;
    if (settings_.weight_decay != 0) value = value - own_rate * settings_.weight_decay * value;
    const Tensor amount = rule_({cast(limited[i], variable.dtype()), own_rate, cast(step, variable.dtype()), values});
    variable.assign(value - amount);
    for (size_t slot = 0; slot < slots.size(); ++slot) slots[slot].assign(values[slot]);
  }
  iterations_.assign(step);
}

std::vector<Variable> OptimizerImpl::variables() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Variable> all = {iterations_};
  if (rate_.defined()) all.push_back(rate_);
  for (const uint64_t id : order_) all.insert(all.end(), slots_.at(id).begin(), slots_.at(id).end());
  return all;
}

std::shared_ptr<OptimizerImpl> OptimizerImpl::clone() const { return std::make_shared<OptimizerImpl>(settings_, starts_, rule_); }

}  // namespace anyshape
