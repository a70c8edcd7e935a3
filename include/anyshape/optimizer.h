// Optimizers: those of Keras, with its update rules and defaults, and the user's own.
#pragma once
#include <anyshape/config.h>
#include <anyshape/registry.h>
#include <anyshape/schedule.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
class OptimizerImpl;
}

/// A handle: copies share slots and step count. Slots belong to (optimizer, variable) and are made when a variable is first seen.
class Optimizer : public Stateful, public detail::ShownByConfig<Optimizer> {
 public:
  Optimizer();
  Optimizer(const char* name);  ///< "adam", ...; ArgumentError with the near names for an unknown one
  Optimizer(const std::string& name);
  explicit Optimizer(std::shared_ptr<detail::OptimizerImpl> impl);

  bool defined() const { return impl_ != nullptr; }  ///< false: a handle without an optimizer
  /// One update of every variable; clipping and weight decay as configured.
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  void build(const std::vector<Variable>& variables);  ///< makes the slots ahead of the first step
  Variable iterations() const;                         ///< finished updates, i64
  double learning_rate() const;                        ///< at the next update
  void set_learning_rate(double rate);                 ///< ArgumentError where a schedule decides
  std::vector<Variable> variables() const;             ///< iterations and slots
  const std::string& name() const;                     ///< "adam", ...
  Optimizer clone() const;                             ///< same options, fresh state
  Config config() const;                               ///< its name and options, as it was made; an empty handle is nothing
  const std::shared_ptr<detail::OptimizerImpl>& impl() const { return impl_; }  ///< for the library

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  std::shared_ptr<detail::OptimizerImpl> impl_;
};
/// The registry of optimizers.
template <>
Registry& registry_of<Optimizer>();

/// What an update rule sees of one variable in one step.
struct Update {
  Tensor gradient;             ///< clipped, in the variable's dtype
  Tensor rate;                 ///< of learning, as the schedule gives it and the rule corrects it
  Tensor step;                 ///< this one, counted from 1: an i64 scalar
  const Variable& variable;    ///< as it is before the step
  std::vector<Tensor>& slots;  ///< one per slot of the rule; the rule puts the new values in their place
};

/// The formula of an optimizer: what it remembers of a variable, and what it takes off it. Schedules, clipping, weight decay, dtypes and the
/// count of steps are done around it.
struct UpdateRule {
  /// A tensor of the variable's shape that the rule keeps from step to step.
  struct Slot {
    std::string name;
    double start = 0;  ///< of every element
  };
  std::vector<Slot> slots = {};
  /// The rate that a step (counted from 1) works with, where it is not the learning rate: once per step, whatever the number of variables.
  std::function<Tensor(const Tensor& rate, const Tensor& step)> corrected_rate = {};
  std::function<Tensor(const Update& update)> amount = {};  ///< to subtract from the variable
};

/// What every optimizer takes.
struct OptimizerOptions {
  Schedule learning_rate = 0.001;
  double weight_decay = 0;  ///< a step leaves 1 - rate * weight_decay of a weight, before the rule's amount
  double clipnorm = 0;      ///< 0: not clipped; only one of the three may be set
  double clipvalue = 0;
  double global_clipnorm = 0;
};

/// Your own optimizer: as::optimizer("plain", {.learning_rate = 0.1}, {.amount = [](const as::Update& u) { return u.rate * u.gradient; }}).
Optimizer optimizer(std::string name, OptimizerOptions options, UpdateRule rule);
/// Likewise with your own options, which have the fields of OptimizerOptions that they let a user choose.
///@{
template <class Options>
  requires requires(const Options& options) { options.learning_rate; }
Optimizer optimizer(std::string name, const Options& options, UpdateRule rule) {
  OptimizerOptions common{.learning_rate = options.learning_rate};
  if constexpr (requires { options.weight_decay; }) common.weight_decay = options.weight_decay;
  if constexpr (requires { options.clipnorm; }) common.clipnorm = options.clipnorm;
  if constexpr (requires { options.clipvalue; }) common.clipvalue = options.clipvalue;
  if constexpr (requires { options.global_clipnorm; }) common.global_clipnorm = options.global_clipnorm;
  Optimizer made = optimizer(name, std::move(common), std::move(rule));
  if constexpr (detail::fields::can_be_taken_apart<Options>) detail::MadeAccess::set(made, detail::made_from(std::move(name), options));
  return made;
}
///@}

/// Momentum is from 0 to 1; without it there is no slot, and nesterov changes nothing.
struct SgdOptions {
  Schedule learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double clipnorm = 0;  ///< 0: not clipped; only one of the three may be set
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer sgd(SgdOptions options = {});  ///< w - rate * g; with momentum: v' = momentum * v - rate * g, w + v'

/// A step keeps beta_1 of the mean m of gradients and beta_2 of the mean v of their squares; amsgrad takes the greatest v so far.
struct AdamOptions {
  Schedule learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer adam(AdamOptions options = {});  ///< w - rate * m / (sqrt(v) + epsilon), with the rate corrected for means that begin at 0

/// As AdamOptions, with weight decay by default.
struct AdamWOptions {
  Schedule learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer adamw(AdamWOptions options = {});  ///< adam() under the name "adamw"

/// A step keeps rho of the mean of squares; centered subtracts the square of the mean gradient from it.
struct RmspropOptions {
  Schedule learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer rmsprop(RmspropOptions options = {});  ///< w - rate * g / sqrt(mean of g^2 + epsilon)

/// The sum of squares begins at initial_accumulator.
struct AdagradOptions {
  Schedule learning_rate = 0.001;
  double initial_accumulator = 0.1;
  double epsilon = 1e-7;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer adagrad(AdagradOptions options = {});  ///< w - rate * g / sqrt(sum of g^2 + epsilon)

}  // namespace anyshape
#pragma GCC visibility pop
