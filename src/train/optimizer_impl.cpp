// One step of any optimizer: clip, decay, update by the rule, count.
#include "train/optimizer_impl.h"
#include "base/option_rules.h"

#include "graph/named_call.h"
#include "graph/outside_trace.h"
#include "ops/contraction/contract.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <map>
#include <set>
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

// What a slot is called stands behind its variable's name: "dense/kernel/momentum".
void require_rule(const std::string& name, const UpdateRule& rule) {
  if (name.empty()) throw ArgumentError("optimizer: the name is empty; expected one, for reports and errors.");
  require::callable(name, ".amount of the rule", rule.amount);
  std::set<std::string> names;
  for (const UpdateRule::Slot& slot : rule.slots) {
    if (slot.name.empty() || slot.name.find('/') != std::string::npos) {
      throw ArgumentError(fmt::format("{}: a slot is named \"{}\"; expected a name without a slash.", name, slot.name));
    }
    if (!names.insert(slot.name).second) {
      throw ArgumentError(fmt::format("{}: two slots are named \"{}\"; expected names of their own.", name, slot.name));
    }
    require::finite(name, fmt::format("the start of slot \"{}\"", slot.name), slot.start);
  }
}

// What a rule made of a variable, or of one of its slots, in the variable's dtype. Sizes that only a call knows are held where it is assigned.
Tensor fitted(const std::string& name, const Variable& variable, const Tensor& result, const UpdateRule::Slot* slot = nullptr) {
  const auto fits = [&] {
    if (!result.defined() || result.is_ragged() || result.rank() != variable.shape().rank()) return false;
    for (int axis = 0; axis < result.rank(); ++axis) {
      if (result.shape()[axis].is_constant() && !result.shape()[axis].same_as(variable.shape()[axis])) return false;
    }
    return true;
  };
  if (!fits()) {
    const std::string what = slot == nullptr ? "the variable" : fmt::format("slot \"{}\"", slot->name);
    throw ShapeError(fmt::format("{}: the rule makes {} {}; expected the shape of its variable \"{}\", {}.", name, what, describe(result),
                                 variable.name(), to_string(variable.shape())));
  }
  return cast(result, variable.dtype());
}

struct Rates {
  Tensor learning;
  Tensor corrected;
  Tensor kept;  // what weight decay leaves of a weight; undefined: all
};

}  // namespace

OptimizerImpl::OptimizerImpl(std::string name, OptimizerOptions options, UpdateRule rule)
    : Identity("optimizer"), name_(std::move(name)), options_(std::move(options)), rule_(std::move(rule)) {
  require_rule(name_, rule_);
  const int clips = (options_.clipnorm != 0 ? 1 : 0) + (options_.clipvalue != 0 ? 1 : 0) + (options_.global_clipnorm != 0 ? 1 : 0);
  if (clips > 1) {
    throw ArgumentError(
        fmt::format("{}: clipnorm, clipvalue and global_clipnorm exclude each other; expected at most one of them.", name_));
  }
  require::not_negative(name_, "clipnorm", options_.clipnorm);
  require::not_negative(name_, "clipvalue", options_.clipvalue);
  require::not_negative(name_, "global_clipnorm", options_.global_clipnorm);
  require::not_negative(name_, "weight_decay", options_.weight_decay);
  if (options_.learning_rate.is_constant()) require::not_negative(name_, "learning_rate", options_.learning_rate.rate());
  const OutsideTrace outside;
  iterations_ = Variable(zeros({}, {.dtype = Dtype::i64}), {.trainable = false, .name = "iterations"});
  if (options_.learning_rate.is_constant()) {
    rate_ = Variable(full({}, static_cast<float>(options_.learning_rate.rate())), {.trainable = false, .name = "learning_rate"});
  }
}

Optimizer optimizer(std::string name, OptimizerOptions options, UpdateRule rule) {
  return with_config(Optimizer(std::make_shared<OptimizerImpl>(name, options, std::move(rule))), name, options);
}

Tensor OptimizerImpl::rate() const { return rate_.defined() ? rate_.read() : options_.learning_rate(iterations_.read()); }

void OptimizerImpl::set_rate(double rate) {
  if (!rate_.defined()) {
    throw ArgumentError(
        fmt::format("{}: the learning rate is set to {}, but a schedule decides it; expected an optimizer with a number.", name_, rate));
  }
  rate_.assign(full({}, static_cast<float>(require::not_negative(name_, "the learning rate", rate))));
}

const std::vector<Variable>& OptimizerImpl::slots_of(const Variable& variable, const std::function<std::string(const Variable&)>& name_of) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = slots_.find(variable.id()); found != slots_.end()) return found->second;
  const OutsideTrace outside;  // state, whichever trace meets the variable first
  std::vector<Variable> slots;
  const std::string name = rule_.slots.empty() ? "" : name_of(variable);
  for (const UpdateRule::Slot& slot : rule_.slots) {
    const std::string own = fmt::format("{}/{}", name, slot.name);
    const auto expected = expected_.find(own);
    const bool is_there =
        expected != expected_.end() && expected->second.dtype() == variable.dtype() && expected->second.shape().same_as(variable.shape());
    slots.emplace_back(is_there ? expected->second : full(variable.shape(), cast(Tensor(slot.start), variable.dtype())),
                       VariableOptions{.trainable = false, .name = own});
  }
  const auto found = slots_.try_emplace(variable.id(), std::move(slots)).first;  // all of them, or none where one could not be made
  order_.push_back(variable.id());
  return found->second;
}

void OptimizerImpl::build(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) slots_of(variable);
}

void OptimizerImpl::build(const std::vector<Variable>& variables, const std::function<std::string(const Variable&)>& name_of) {
  for (const Variable& variable : variables) slots_of(variable, name_of);
}

std::vector<Tensor> OptimizerImpl::clipped(std::vector<Tensor> gradients) const {
  if (options_.global_clipnorm != 0) {
    Tensor total = 0.0F;
    for (const Tensor& gradient : gradients) total = total + sum(square(gradient));
    for (Tensor& gradient : gradients) gradient = limited(gradient, sqrt(total), options_.global_clipnorm);
  }
  for (Tensor& gradient : gradients) {
    if (options_.clipnorm != 0) gradient = limited(gradient, norm_of(gradient), options_.clipnorm);
    if (options_.clipvalue != 0) gradient = clip(gradient, -options_.clipvalue, options_.clipvalue);
  }
  return gradients;
}

void OptimizerImpl::require_fit(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const {
  if (gradients.size() != variables.size()) {
    throw ArgumentError(
        fmt::format("{}: got {} gradients for {} variables; expected one per variable.", name_, gradients.size(), variables.size()));
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i].defined() && gradients[i].rank() == variables[i].shape().rank()) continue;
    throw ShapeError(fmt::format("{}: gradient {} is {}, its variable \"{}\" {}; expected equal shapes.", name_, i, describe(gradients[i]),
                                 variables[i].name(), to_string(variables[i].shape())));
  }
}

void OptimizerImpl::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  require_fit(gradients, variables);
  const Tensor rate = this->rate(), step = iterations_.read() + 1;
  const std::vector<Tensor> usable = clipped(in_shapes_of(name_, gradients, variables));
  std::map<Dtype, Rates> rates;  // once for all variables of a dtype
  std::vector<std::pair<Variable, Tensor>> updates = {{iterations_, step}};
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const Dtype dtype = variable.dtype();
    const auto [found, is_new] = rates.try_emplace(dtype);
    Rates& own = found->second;
    if (is_new) {
      own.learning = cast(rate, dtype);
      own.corrected = rule_.corrected_rate ? rule_.corrected_rate(own.learning, cast(step, dtype)) : own.learning;
      if (options_.weight_decay != 0) own.kept = 1 - own.learning * options_.weight_decay;
    }
    const std::vector<Variable>& slots = slots_of(variable);
    std::vector<Tensor> values(slots.begin(), slots.end());
    const Tensor amount = rule_.amount({cast(usable[i], dtype), own.corrected, step, variable, values});
    if (!amount.defined())
      throw ArgumentError(fmt::format("{}: .amount of the rule gave an empty tensor handle; expected a tensor.", name_));
    if (values.size() != slots.size()) {
      throw ArgumentError(fmt::format("{}: the rule left {} slots; expected the {} it names.", name_, values.size(), slots.size()));
    }
    const Tensor value = (own.kept.defined() ? variable * own.kept : variable) - amount;
    updates.emplace_back(variable, fitted(name_, variable, value));
    for (size_t slot = 0; slot < slots.size(); ++slot)
      updates.emplace_back(slots[slot], fitted(name_, variable, values[slot], &rule_.slots[slot]));
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

void OptimizerImpl::expect_slots(std::map<std::string, Tensor> values) {
  const std::scoped_lock lock(mutex_);
  expected_ = std::move(values);
}

std::shared_ptr<OptimizerImpl> OptimizerImpl::clone() const {
  auto copy = std::make_shared<OptimizerImpl>(name_, options_, rule_);
  copy->set_made(made_);
  return copy;
}

}  // namespace anyshape
