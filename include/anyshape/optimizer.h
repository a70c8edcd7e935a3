// Optimizers and learning-rate schedules. Update rules and defaults are Keras's.
#pragma once
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

// The learning rate at each step: a number, one of the schedules below, or any callable on the count of finished updates (an i64 scalar
// tensor). It is computed inside the step, so no schedule makes a new trace.
class Schedule {
 public:
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Schedule(Number rate) : rate_(static_cast<double>(rate)) {}
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&>
  Schedule(Callable callable) : callable_(std::move(callable)) {}

  bool is_constant() const { return callable_ == nullptr; }
  double rate() const { return rate_; }         // of a constant one
  Tensor operator()(const Tensor& step) const;  // f32 scalar

 private:
  double rate_ = 0;
  std::function<Tensor(const Tensor&)> callable_;
};

struct ExponentialDecayOptions {
  bool staircase = false;
};
Schedule exponential_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options = {});
Schedule inverse_time_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options = {});
struct CosineDecayOptions {
  double alpha = 0;  // the least, as a share of the initial rate
  std::optional<double> warmup_target = {};
  int64_t warmup_steps = 0;
};
Schedule cosine_decay(double initial, int64_t decay_steps, CosineDecayOptions options = {});
struct CosineRestartsOptions {
  double t_mul = 2;
  double m_mul = 1;
  double alpha = 0;
};
Schedule cosine_decay_restarts(double initial, int64_t first_decay_steps, CosineRestartsOptions options = {});
struct PolynomialDecayOptions {
  double end = 0.0001;
  double power = 1;
  bool cycle = false;
};
Schedule polynomial_decay(double initial, int64_t decay_steps, PolynomialDecayOptions options = {});
Schedule piecewise_constant_decay(std::vector<int64_t> boundaries, std::vector<double> values);

class OptimizerImpl;

// A handle: copies share slots and step count. Slots belong to (optimizer, variable) and are made when a variable is first seen.
class Optimizer : public Stateful {
 public:
  Optimizer();
  Optimizer(const char* name);  // "adam", ...; ArgumentError with the near names for an unknown one
  Optimizer(const std::string& name);
  explicit Optimizer(std::shared_ptr<OptimizerImpl> impl);

  bool defined() const { return impl_ != nullptr; }
  // One update of every variable; clipping and weight decay as configured.
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const;
  void build(const std::vector<Variable>& variables) const;  // makes the slots ahead of the first step
  Variable iterations() const;                               // finished updates, i64
  double learning_rate() const;                              // at the next update
  void set_learning_rate(double rate) const;                 // ArgumentError where a schedule decides
  std::vector<Variable> variables() const;                   // iterations and slots
  const std::string& name() const;
  Optimizer clone() const;  // same options, fresh state
  const std::shared_ptr<OptimizerImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<OptimizerImpl> impl_;
};

struct SgdOptions {
  Schedule learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double clipnorm = 0;  // 0: not clipped; only one of the three may be set
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer sgd(SgdOptions options = {});

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
Optimizer adam(AdamOptions options = {});

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
Optimizer adamw(AdamWOptions options = {});

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
Optimizer rmsprop(RmspropOptions options = {});

struct AdagradOptions {
  Schedule learning_rate = 0.001;
  double initial_accumulator = 0.1;
  double epsilon = 1e-7;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};
Optimizer adagrad(AdagradOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
