// Learning-rate schedules: formulas on the count of finished updates, computed inside the step.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"
#include "graph/trace_scope.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/optimizer.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace anyshape {
namespace {

void require_start(const char* schedule, double initial, int64_t steps) {
  require::not_negative(schedule, "the initial rate", initial);
  require::at_least(schedule, "the number of steps", steps, 1);
}

double require_decay(const char* schedule, double decay_rate) { return require::not_negative(schedule, "decay_rate", decay_rate); }

Tensor in_f32(const Tensor& step) { return cast(step, Dtype::f32); }

// From 1 down to 0 along half a cosine.
Tensor cosine(const Tensor& share) { return 0.5 * (1 + cos(std::numbers::pi * share)); }

// What schedules take beside their options, in Keras's names.
struct DecayArguments {
  double initial_learning_rate;
  int64_t decay_steps;
  double decay_rate;
};
struct StepsArguments {
  double initial_learning_rate;
  int64_t decay_steps;
};
struct FirstStepsArguments {
  double initial_learning_rate;
  int64_t first_decay_steps;
};
struct PiecesArguments {
  std::vector<int64_t> boundaries;
  std::vector<double> values;
};
struct NoOptions {};

}  // namespace

template <>
Registry& registry_of<Schedule>() {
  return lasting_registry([] {
    auto* const made = new Registry("schedule", {.make = [](const Config& config, void* constant) {
                                      const bool is_number =
                                          config.kind() == Config::Kind::Number || config.kind() == Config::Kind::Integer;
                                      if (is_number) static_cast<std::optional<Schedule>*>(constant)->emplace(config.as_number());
                                      return is_number;
                                    }});
    made->table().add(detail::registered(
        "exponential_decay", +[](DecayArguments a, ExponentialDecayOptions options) {
          return exponential_decay(a.initial_learning_rate, a.decay_steps, a.decay_rate, options);
        }));
    made->table().add(detail::registered(
        "inverse_time_decay", +[](DecayArguments a, ExponentialDecayOptions options) {
          return inverse_time_decay(a.initial_learning_rate, a.decay_steps, a.decay_rate, options);
        }));
    made->table().add(detail::registered(
        "cosine_decay",
        +[](StepsArguments a, CosineDecayOptions options) { return cosine_decay(a.initial_learning_rate, a.decay_steps, options); }));
    made->table().add(detail::registered(
        "cosine_decay_restarts", +[](FirstStepsArguments a, CosineRestartsOptions options) {
          return cosine_decay_restarts(a.initial_learning_rate, a.first_decay_steps, options);
        }));
    made->table().add(detail::registered(
        "polynomial_decay", +[](StepsArguments a, PolynomialDecayOptions options) {
          return polynomial_decay(a.initial_learning_rate, a.decay_steps, options);
        }));
    made->table().add(detail::registered(
        "piecewise_constant_decay",
        +[](PiecesArguments a, NoOptions) { return piecewise_constant_decay(std::move(a.boundaries), std::move(a.values)); }));
    return made;
  });
}

void Schedule::set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }
Config Schedule::config() const { return is_constant() ? Config(rate_) : config_of_callable(made_, registry_of<Schedule>(), callable_); }

void Schedule::require_callable() const { require::callable("schedule", "the callable", callable_); }

Tensor Schedule::operator()(const Tensor& step) const {
  if (is_constant()) return full({}, static_cast<float>(rate_));
  return run_scope([&]() -> FunctionResults { return {{cast(callable_(step), Dtype::f32)}}; }).tensors[0];
}

Schedule exponential_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options) {
  require_start("exponential_decay", initial, decay_steps);
  require_decay("exponential_decay", decay_rate);
  return with_config(Schedule([=](const Tensor& step) {
                       Tensor periods = in_f32(step) / static_cast<double>(decay_steps);
                       if (options.staircase) periods = floor(periods);
                       return initial * pow(decay_rate, periods);
                     }),
                     "exponential_decay", DecayArguments{initial, decay_steps, decay_rate}, options);
}

Schedule inverse_time_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options) {
  require_start("inverse_time_decay", initial, decay_steps);
  require_decay("inverse_time_decay", decay_rate);
  return with_config(Schedule([=](const Tensor& step) {
                       Tensor periods = in_f32(step) / static_cast<double>(decay_steps);
                       if (options.staircase) periods = floor(periods);
                       return initial / (1 + decay_rate * periods);
                     }),
                     "inverse_time_decay", DecayArguments{initial, decay_steps, decay_rate}, options);
}

Schedule cosine_decay(double initial, int64_t decay_steps, CosineDecayOptions options) {
  require_start("cosine_decay", initial, decay_steps);
  require::share("cosine_decay", "alpha", options.alpha);
  if (options.warmup_target) require::not_negative("cosine_decay", "warmup_target", *options.warmup_target);
  require::at_least("cosine_decay", "warmup_steps", options.warmup_steps, 0);
  const double top = options.warmup_target.value_or(initial);
  const auto warmup = static_cast<double>(options.warmup_target ? options.warmup_steps : 0);
  return with_config(Schedule([=](const Tensor& given) {
                       const Tensor step = in_f32(given);
                       const Tensor share = clip((step - warmup) / static_cast<double>(decay_steps), 0, 1);
                       const Tensor decayed = top * ((1 - options.alpha) * cosine(share) + options.alpha);
                       if (warmup == 0) return decayed;
                       return where(step < warmup, initial + (top - initial) * (step / warmup), decayed);
                     }),
                     "cosine_decay", StepsArguments{initial, decay_steps}, options);
}

Schedule cosine_decay_restarts(double initial, int64_t first_decay_steps, CosineRestartsOptions options) {
  require_start("cosine_decay_restarts", initial, first_decay_steps);
  if (!(options.t_mul >= 1 && std::isfinite(options.t_mul))) {  // shorter and shorter periods come to an end, and then there is no rate
    throw ArgumentError(fmt::format("cosine_decay_restarts: t_mul is {}; expected at least 1.", options.t_mul));
  }
  require::not_negative("cosine_decay_restarts", "m_mul", options.m_mul);
  require::share("cosine_decay_restarts", "alpha", options.alpha);
  return with_config(Schedule([=](const Tensor& step) {
                       const Tensor done = in_f32(step) / static_cast<double>(first_decay_steps);
                       Tensor restart = floor(done);
                       Tensor share = done - restart;
                       if (options.t_mul != 1) {  // periods grow by t_mul: a geometric sum
                         restart = floor(log(1 - done * (1 - options.t_mul)) / std::log(options.t_mul));
                         const Tensor before = (1 - pow(options.t_mul, restart)) / (1 - options.t_mul);
                         share = (done - before) / pow(options.t_mul, restart);
                       }
                       return initial * ((1 - options.alpha) * pow(options.m_mul, restart) * cosine(share) + options.alpha);
                     }),
                     "cosine_decay_restarts", FirstStepsArguments{initial, first_decay_steps}, options);
}

Schedule polynomial_decay(double initial, int64_t decay_steps, PolynomialDecayOptions options) {
  require_start("polynomial_decay", initial, decay_steps);
  require::not_negative("polynomial_decay", "end", options.end);
  require::positive("polynomial_decay", "power", options.power);
  const auto period = static_cast<double>(decay_steps);
  return with_config(Schedule([=](const Tensor& given) {
                       const Tensor step = in_f32(given);
                       const Tensor end = options.cycle ? period * maximum(ceil(step / period), 1) : Tensor(period);
                       const Tensor share = minimum(step, end) / end;
                       return (initial - options.end) * pow(1 - share, options.power) + options.end;
                     }),
                     "polynomial_decay", StepsArguments{initial, decay_steps}, options);
}

Schedule piecewise_constant_decay(std::vector<int64_t> boundaries, std::vector<double> values) {
  if (values.size() != boundaries.size() + 1) {
    throw ArgumentError(fmt::format("piecewise_constant_decay: got {} values for {} boundaries; expected one more value than boundaries.",
                                    values.size(), boundaries.size()));
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i - 1] < boundaries[i]) continue;
    throw ArgumentError(fmt::format("piecewise_constant_decay: boundary {} is {} after {}; expected ascending boundaries.", i,
                                    boundaries[i], boundaries[i - 1]));
  }
  for (const double value : values) require::not_negative("piecewise_constant_decay", "a value", value);
  return with_config(Schedule([=](const Tensor& step) {
                       Tensor rate = static_cast<float>(values.back());
                       for (size_t i = boundaries.size(); i-- > 0;)
                         rate = where(step <= boundaries[i], static_cast<float>(values[i]), rate);
                       return rate;
                     }),
                     "piecewise_constant_decay", PiecesArguments{boundaries, values});
}

}  // namespace anyshape
