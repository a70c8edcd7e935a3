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
Optimizer made(std::string name, const Options& options, UpdateRule rule) {
  const OptimizerSettings settings{.name = std::move(name),
                                   .learning_rate = options.learning_rate,
                                   .weight_decay = options.weight_decay,
                                   .clipnorm = options.clipnorm,
                                   .clipvalue = options.clipvalue,
                                   .global_clipnorm = options.global_clipnorm};
  return Optimizer(std::make_shared<OptimizerImpl>(settings, std::move(rule)));
}

// An average that moves a share of the way to x.
Tensor moved(const Tensor& average, const Tensor& x, double share) { return average + (x - average) * share; }

void require_share(const char* optimizer, const char* name, double value) {
  if (!(value >= 0 && value < 1)) throw ArgumentError(fmt::format("{}: {} is {}; expected 0 <= {} < 1.", optimizer, name, value, name));
}

template <class Options>
Optimizer adam_named(const char* name, const Options& options) {
  const double beta_1 = options.beta_1, beta_2 = options.beta_2, epsilon = options.epsilon;
  require_share(name, "beta_1", beta_1);
  require_share(name, "beta_2", beta_2);
  const bool amsgrad = options.amsgrad;
  UpdateRule rule{.slots = {{"momentum"}, {"velocity"}},
                  .corrected_rate = [=](const Tensor& rate,
                                        const Tensor& step) { return rate * sqrt(1 - pow(beta_2, step)) / (1 - pow(beta_1, step)); },
                  .amount =
                      [=](const Update& u) {
                        Tensor &m = u.slots[0], &v = u.slots[1];
                        m = moved(m, u.gradient, 1 - beta_1);
                        v = moved(v, square(u.gradient), 1 - beta_2);
                        if (amsgrad) u.slots[2] = maximum(u.slots[2], v);
                        return u.rate * m / (sqrt(u.slots.back()) + epsilon);
                      }};
  if (amsgrad) rule.slots.push_back({"velocity_hat"});
  return made(name, options, std::move(rule));
}

}  // namespace

Optimizer sgd(SgdOptions options) {
  if (options.momentum == 0) return made("sgd", options, {.amount = [](const Update& u) { return u.rate * u.gradient; }});
  if (!(options.momentum > 0 && options.momentum <= 1)) {
    throw ArgumentError(fmt::format("sgd: momentum is {}; expected 0 <= momentum <= 1.", options.momentum));
  }
  return made("sgd", options, {.slots = {{"momentum"}}, .amount = [=](const Update& u) {
                                 Tensor& velocity = u.slots[0];
                                 velocity = options.momentum * velocity - u.rate * u.gradient;
                                 return options.nesterov ? u.rate * u.gradient - options.momentum * velocity : -velocity;
                               }});
}

Optimizer adam(AdamOptions options) { return adam_named("adam", options); }
Optimizer adamw(AdamWOptions options) { return adam_named("adamw", options); }

Optimizer rmsprop(RmspropOptions options) {
  const double rho = options.rho, momentum = options.momentum, epsilon = options.epsilon;
  require_share("rmsprop", "rho", rho);
  UpdateRule rule{.slots = {{"velocity"}}, .amount = [=](const Update& u) {
                    Tensor& squares = u.slots[0];
                    squares = moved(squares, square(u.gradient), 1 - rho);
                    Tensor denominator = squares + epsilon;
                    if (options.centered) {
                      Tensor& mean = u.slots[1];
                      mean = moved(mean, u.gradient, 1 - rho);
                      denominator = denominator - square(mean);
                    }
                    const Tensor amount = u.rate * u.gradient / sqrt(denominator);
                    if (momentum == 0) return amount;
                    u.slots.back() = momentum * u.slots.back() + amount;
                    return u.slots.back();
                  }};
  if (options.centered) rule.slots.push_back({"average_gradient"});
  if (momentum != 0) rule.slots.push_back({"momentum"});
  return made("rmsprop", options, std::move(rule));
}

Optimizer adagrad(AdagradOptions options) {
  return made("adagrad", options, {.slots = {{"accumulator", options.initial_accumulator}}, .amount = [=](const Update& u) {
                                     Tensor& total = u.slots[0];
                                     total = total + square(u.gradient);
                                     return u.rate * u.gradient / sqrt(total + options.epsilon);
                                   }});
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
