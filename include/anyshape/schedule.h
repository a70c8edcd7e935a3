// Learning-rate schedules. Formulas and defaults are Keras's.
#pragma once
#include <anyshape/config.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// The learning rate at each step: a number, one of the schedules below, or any callable on the count of finished updates (an i64 scalar
/// tensor). It is computed inside the step, in f32 as Keras does, also for f64 variables; so no schedule makes a new trace.
class Schedule : public detail::ShownByConfig<Schedule> {
 public:
  /// The same rate at every step.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Schedule(Number rate) : rate_(static_cast<double>(rate)) {}
  /// Any callable on the count of finished updates; ArgumentError for an empty std::function.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&>
  Schedule(Callable callable) : callable_(std::move(callable)) {
    require_callable();
  }

  bool is_constant() const { return callable_ == nullptr; }  ///< it is a number
  double rate() const { return rate_; }                      ///< of a constant one
  Tensor operator()(const Tensor& step) const;               ///< f32 scalar
  Config config() const;                                     ///< a number, or its name and options; a plain callable says that it is one

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  void require_callable() const;  ///< ArgumentError for an empty std::function

  double rate_ = 0;
  std::function<Tensor(const Tensor&)> callable_;
  std::shared_ptr<const detail::Made> made_;
};
/// The registry of schedules; it takes a number as one, too.
template <>
Registry& registry_of<Schedule>();

/// With staircase the rate changes after each decay_steps only: step / decay_steps is rounded down.
struct ExponentialDecayOptions {
  bool staircase = false;
};
/// initial * decay_rate ^ (step / decay_steps)
Schedule exponential_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options = {});
/// initial / (1 + decay_rate * step / decay_steps)
Schedule inverse_time_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options = {});
/// With a warmup_target the rate first goes straight from the initial rate to the target, in warmup_steps; the decay is from there.
struct CosineDecayOptions {
  double alpha = 0;  ///< the least, as a share of the initial rate
  std::optional<double> warmup_target = {};
  int64_t warmup_steps = 0;
};
/// Half a cosine, from the initial rate down to alpha of it, over decay_steps; then it stays.
Schedule cosine_decay(double initial, int64_t decay_steps, CosineDecayOptions options = {});
/// Each period is t_mul, at least 1, times as long as the one before, and starts from m_mul times its rate; alpha is the least, as a share.
struct CosineRestartsOptions {
  double t_mul = 2;
  double m_mul = 1;
  double alpha = 0;
};
/// Half a cosine down, then from the top again: the first period has first_decay_steps.
Schedule cosine_decay_restarts(double initial, int64_t first_decay_steps, CosineRestartsOptions options = {});
/// With cycle the rate does not stay at the end: decay_steps is stretched to its next multiple.
struct PolynomialDecayOptions {
  double end = 0.0001;
  double power = 1;
  bool cycle = false;
};
/// (initial - end) * (1 - step / decay_steps) ^ power + end; after decay_steps it is `end`.
Schedule polynomial_decay(double initial, int64_t decay_steps, PolynomialDecayOptions options = {});
/// values[i] for steps up to boundaries[i], the last value after them. ArgumentError unless boundaries ascend and are one fewer than values.
Schedule piecewise_constant_decay(std::vector<int64_t> boundaries, std::vector<double> values);

}  // namespace anyshape
#pragma GCC visibility pop
