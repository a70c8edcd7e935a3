// The update rules, each as its formula, and optimizers by name.
#include "base/near_names.h"
#include "train/optimizer_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <map>

namespace anyshape {
namespace {

template <class Options>
Optimizer made(std::string name, const Options& options, std::vector<double> slots, UpdateRule rule) {
  const OptimizerSettings settings{.name = std::move(name),
                                   .learning_rate = options.learning_rate,
                                   .weight_decay = options.weight_decay,
                                   .clipnorm = options.clipnorm,
                                   .clipvalue = options.clipvalue,
                                   .global_clipnorm = options.global_clipnorm};
  return Optimizer(std::make_shared<OptimizerImpl>(settings, std::move(slots), std::move(rule)));
}

// An average that moves a share of the way to x.
Tensor moved(const Tensor& average, const Tensor& x, double share) { return average + (x - average) * share; }

}  // namespace

Optimizer sgd(SgdOptions options) {
  if (options.momentum == 0) {
    return made("sgd", options, {}, [](const Update& u) { return u.rate * u.gradient; });
  }
  if (!(options.momentum > 0 && options.momentum <= 1)) {
    throw ArgumentError(fmt::format("sgd: momentum is {}; expected 0 <= momentum <= 1.", options.momentum));
  }
  return made("sgd", options, {0}, [momentum = options.momentum, nesterov = options.nesterov](const Update& u) {
    Tensor& velocity = u.slots[0];
    velocity = momentum * velocity - u.rate * u.gradient;
    return nesterov ? u.rate * u.gradient - momentum * velocity : -velocity;
  });
}

Optimizer adam(AdamOptions options) {
  const double beta_1 = options.beta_1, beta_2 = options.beta_2, epsilon = options.epsilon;
  const bool amsgrad = options.amsgrad;
  return made("adam", options, std::vector<double>(amsgrad ? 3 : 2), [=](const Update& u) {
    Tensor &m = u.slots[0], &v = u.slots[1];
    const Tensor alpha = u.rate * sqrt(1 - pow(beta_2, u.step)) / (1 - pow(beta_1, u.step));
    m = moved(m, u.gradient, 1 - beta_1);
    v = moved(v, square(u.gradient), 1 - beta_2);
    if (amsgrad) u.slots[2] = maximum(u.slots[2], v);
    return alpha * m / (sqrt(amsgrad ? u.slots[2] : v) + epsilon);
  });
}

Optimizer adamw(AdamWOptions options) {
  const Optimizer rule = adam({.learning_rate = options.learning_rate,
                               .beta_1 = options.beta_1,
                               .beta_2 = options.beta_2,
                               .epsilon = options.epsilon,
                               .amsgrad = options.amsgrad,
                               .weight_decay = options.weight_decay,
                               .clipnorm = options.clipnorm,
                               .clipvalue = options.clipvalue,
                               .global_clipnorm = options.global_clipnorm});
  return rule;
}

Optimizer rmsprop(RmspropOptions options) {
  const double rho = options.rho, momentum = options.momentum, epsilon = options.epsilon;
  const bool centered = options.centered;
  const size_t mean_slot = 1, velocity_slot = centered ? 2 : 1;
  return made("rmsprop", options, std::vector<double>(size_t{1} + (centered ? 1 : 0) + (momentum > 0 ? 1 : 0)), [=](const Update& u) {
    Tensor& squares = u.slots[0];
    squares = rho * squares + (1 - rho) * square(u.gradient);
    Tensor denominator = squares + epsilon;
    if (centered) {
      Tensor& mean = u.slots[mean_slot];
      mean = rho * mean + (1 - rho) * u.gradient;
      denominator = denominator - square(mean);
    }
    const Tensor amount = u.rate * u.gradient / sqrt(denominator);
    if (!(momentum > 0)) return amount;
    Tensor& velocity = u.slots[velocity_slot];
    velocity = momentum * velocity + amount;
    return velocity;
  });
}

Optimizer adagrad(AdagradOptions options) {
  return made("adagrad", options, {options.initial_accumulator}, [epsilon = options.epsilon](const Update& u) {
    Tensor& total = u.slots[0];
    total = total + square(u.gradient);
    return u.rate * u.gradient / sqrt(total + epsilon);
  });
}

Optimizer::Optimizer(const char* name) : Optimizer(std::string(name)) {}

Optimizer::Optimizer(const std::string& name) : Optimizer() {
  static const std::map<std::string, Optimizer (*)()> known = {
      {"sgd", [] { return sgd(); }},         {"adam", [] { return adam(); }},       {"adamw", [] { return adamw(); }},
      {"rmsprop", [] { return rmsprop(); }}, {"adagrad", [] { return adagrad(); }},
  };
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& each : known) names.push_back(each.first);
    throw ArgumentError("optimizer: " + unknown_name("optimizer", name, names));
  }
  *this = found->second();
}

}  // namespace anyshape
