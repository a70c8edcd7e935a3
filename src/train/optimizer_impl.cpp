// One step of any optimizer: clip, decay, update by the rule, count.
#include "train/optimizer_impl.h"

#include "graph/named_call.h"
#include "graph/outside_trace.h"
#include "ops/contraction/contract.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <map>
#include <utility>

namespace anyshape {
namespace {

Tensor norm_of(const Tensor& gradient) { return sqrt(sum(square(gradient))); }

// Scaled down where the norm exceeds the limit, else as it is.
Tensor limited(const Tensor& gradient, const Tensor& norm, double limit) { return gradient * (limit / maximum(norm, limit)); }

// Sizes that only a call knows become checks.
std::vector<Tensor> in_shapes_of(const std::string& name, std::vector<Tensor> gradients, const std::vector<Variable>& variables) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Shape shape = variables[i].shape();
    if (gradients[i].shape().same_as(shape)) continue;
    const NamedCall call(name, gradients[i]);
    std::vector<std::string> names;
    for (int axis = 0; axis < shape.rank(); ++axis)
      names.push_back(fmt::format("axis {} of \"{}\" and its gradient", axis, variables[i].name()));
    gradients[i] = with_sizes(gradients[i], shape, names);
  }
  return gradients;
}

struct Rates {
  Tensor learning;
  Tensor corrected;
  Tensor kept;  // what weight decay leaves of a weight; undefined: all
};

}  // namespace

OptimizerImpl::OptimizerImpl(OptimizerSettings settings, UpdateRule rule)
    : Identity("optimizer"), settings_(std::move(settings)), rule_(std::move(rule)) {
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
  if (const auto found = slots_.find(variable.id()); found != slots_.end()) return found->second;
  const OutsideTrace outside;  // state, whichever trace meets the variable first
  std::vector<Variable> slots;
  for (const UpdateRule::Slot& slot : rule_.slots) {
    slots.emplace_back(full(variable.shape(), cast(Tensor(slot.start), variable.dtype())),
                       VariableOptions{.trainable = false, .name = fmt::format("{}/{}", variable.name(), slot.name)});
  }
  const auto place = slots_.try_emplace(variable.id(), std::move(slots)).first;  // all of them, or none where one could not be made
  order_.push_back(variable.id());
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

void OptimizerImpl::require_fit(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const {
  if (gradients.size() != variables.size()) {
    throw ArgumentError(fmt::format("{}: got {} gradients for {} variables; expected one per variable.", settings_.name, gradients.size(),
                                    variables.size()));
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i].defined() && gradients[i].rank() == variables[i].shape().rank()) continue;
    throw ShapeError(fmt::format("{}: gradient {} is {}, its variable \"{}\" {}; expected equal shapes.", settings_.name, i,
                                 describe(gradients[i]), variables[i].name(), to_string(variables[i].shape())));
  }
}

void OptimizerImpl::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  require_fit(gradients, variables);
  const Tensor rate = this->rate(), step = iterations_.read() + 1;
  const std::vector<Tensor> usable = clipped(in_shapes_of(settings_.name, gradients, variables));
  std::map<Dtype, Rates> rates;  // once for all variables of a dtype
  std::vector<std::pair<Variable, Tensor>> updates = {{iterations_, step}};
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const Dtype dtype = variable.dtype();
    const auto [place, is_new] = rates.try_emplace(dtype);
    Rates& own = place->second;
    if (is_new) {
      own.learning = cast(rate, dtype);
      own.corrected = rule_.corrected_rate ? rule_.corrected_rate(own.learning, cast(step, dtype)) : own.learning;
      if (settings_.weight_decay != 0) own.kept = 1 - own.learning * settings_.weight_decay;
    }
    const std::vector<Variable>& slots = slots_of(variable);
    std::vector<Tensor> values(slots.begin(), slots.end());
    const Tensor amount = rule_.amount({cast(usable[i], dtype), own.corrected, values});
    updates.emplace_back(variable, (own.kept.defined() ? variable * own.kept : variable) - amount);
    for (size_t slot = 0; slot < slots.size(); ++slot) updates.emplace_back(slots[slot], values[slot]);
  }
  for (const auto& [variable, value] : updates) variable.assign(value);  // nothing is assigned where anything failed
}

std::vector<Variable> OptimizerImpl::variables() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Variable> all = {iterations_};
  if (rate_.defined()) all.push_back(rate_);
  for (const uint64_t id : order_) all.insert(all.end(), slots_.at(id).begin(), slots_.at(id).end());
  return all;
}

std::shared_ptr<OptimizerImpl> OptimizerImpl::clone() const { return std::make_shared<OptimizerImpl>(settings_, rule_); }

}  // namespace anyshape
