// Learning-rate schedules: formulas on the count of finished updates, computed inside the step.
#include "graph/trace_scope.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/optimizer.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace anyshape {
namespace {

void require_steps(const char* schedule, int64_t steps) {
  if (steps < 1) throw ArgumentError(fmt::format("{}: the number of steps is {}; expected at least 1.", schedule, steps));
}

Tensor in_f32(const Tensor& step) { return cast(step, Dtype::f32); }

// From 1 down to 0 along half a cosine.
Tensor cosine(const Tensor& share) { return 0.5 * (1 + cos(std::numbers::pi * share)); }

}  // namespace

Tensor Schedule::operator()(const Tensor& step) const {
  if (is_constant()) return full({}, static_cast<float>(rate_));
  return run_scope([&]() -> FunctionResults { return {{cast(callable_(step), Dtype::f32)}}; }).tensors[0];
}

Schedule exponential_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options) {
  require_steps("exponential_decay", decay_steps);
  return [=](const Tensor& step) {
    Tensor periods = in_f32(step) / static_cast<double>(decay_steps);
    if (options.staircase) periods = floor(periods);
    return initial * pow(decay_rate, periods);
  };
}

Schedule inverse_time_decay(double initial, int64_t decay_steps, double decay_rate, ExponentialDecayOptions options) {
  require_steps("inverse_time_decay", decay_steps);
  return [=](const Tensor& step) {
    Tensor periods = in_f32(step) / static_cast<double>(decay_steps);
    if (options.staircase) periods = floor(periods);
    return initial / (1 + decay_rate * periods);
  };
}

Schedule cosine_decay(double initial, int64_t decay_steps, CosineDecayOptions options) {
  require_steps("cosine_decay", decay_steps);
  const double top = options.warmup_target.value_or(initial);
  const auto warmup = static_cast<double>(options.warmup_target ? options.warmup_steps : 0);
  return [=](const Tensor& given) {
    const Tensor step = in_f32(given);
    const Tensor share = clip((step - warmup) / static_cast<double>(decay_steps), 0, 1);
    const Tensor decayed = top * ((1 - options.alpha) * cosine(share) + options.alpha);
    if (warmup == 0) return decayed;
    return where(step < warmup, initial + (top - initial) * (step / warmup), decayed);
  };
}

Schedule cosine_decay_restarts(double initial, int64_t first_decay_steps, CosineRestartsOptions options) {
  require_steps("cosine_decay_restarts", first_decay_steps);
  return [=](const Tensor& step) {
    const Tensor done = in_f32(step) / static_cast<double>(first_decay_steps);
    Tensor restart = floor(done);
    Tensor share = done - restart;
    if (options.t_mul != 1) {  // periods grow by t_mul: a geometric sum
      restart = floor(log(1 - done * (1 - options.t_mul)) / std::log(options.t_mul));
      const Tensor before = (1 - pow(options.t_mul, restart)) / (1 - options.t_mul);
      share = (done - before) / pow(options.t_mul, restart);
    }
    return initial * ((1 - options.alpha) * pow(options.m_mul, restart) * cosine(share) + options.alpha);
  };
}

Schedule polynomial_decay(double initial, int64_t decay_steps, PolynomialDecayOptions options) {
  require_steps("polynomial_decay", decay_steps);
  const auto period = static_cast<double>(decay_steps);
  return [=](const Tensor& given) {
    const Tensor step = in_f32(given);
    const Tensor end = options.cycle ? period * maximum(ceil(step / period), 1) : Tensor(period);
    const Tensor share = minimum(step, end) / end;
    return (initial - options.end) * pow(1 - share, options.power) + options.end;
  };
}

Schedule piecewise_constant_decay(std::vector<int64_t> boundaries, std::vector<double> values) {
  if (values.size() != boundaries.size() + 1) {
    throw ArgumentError(fmt::format("piecewise_constant_decay: got {} values for {} boundaries; expected one more value than boundaries.",
                                    values.size(), boundaries.size()));
  }
  return [boundaries = std::move(boundaries), values = std::move(values)](const Tensor& step) {
    Tensor rate = static_cast<float>(values.back());
    for (size_t i = boundaries.size(); i-- > 0;) rate = where(step <= boundaries[i], static_cast<float>(values[i]), rate);
    return rate;
  };
}

}  // namespace anyshape
