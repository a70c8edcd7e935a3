// The update rules, each as its formula, and optimizers by name.
#include "base/option_rules.h"
#include "config/lasting_registry.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/optimizer.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// An average that moves a share of the way to x.
Tensor moved(const Tensor& average, const Tensor& x, double share) { return average + (x - average) * share; }

template <class Options>
Optimizer adam_named(const char* name, const Options& options) {
  const double beta_1 = options.beta_1, beta_2 = options.beta_2, epsilon = options.epsilon;
  require::share_below_one(name, "beta_1", beta_1);
  require::share_below_one(name, "beta_2", beta_2);
  require::not_negative(name, "epsilon", epsilon);
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
  return optimizer(name, options, std::move(rule));
}

}  // namespace

Optimizer sgd(SgdOptions options) {
  if (options.momentum == 0) return optimizer("sgd", options, {.amount = [](const Update& u) { return u.rate * u.gradient; }});
  require::share("sgd", "momentum", options.momentum);
  return optimizer("sgd", options, {.slots = {{"momentum"}}, .amount = [=](const Update& u) {
                                      Tensor& velocity = u.slots[0];
                                      velocity = options.momentum * velocity - u.rate * u.gradient;
                                      return options.nesterov ? u.rate * u.gradient - options.momentum * velocity : -velocity;
                                    }});
}

Optimizer adam(AdamOptions options) { return adam_named("adam", options); }
Optimizer adamw(AdamWOptions options) { return adam_named("adamw", options); }

Optimizer rmsprop(RmspropOptions options) {
  const double rho = options.rho, momentum = options.momentum, epsilon = options.epsilon;
  require::share_below_one("rmsprop", "rho", rho);
  require::share("rmsprop", "momentum", momentum);
  require::not_negative("rmsprop", "epsilon", epsilon);
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
  return optimizer("rmsprop", options, std::move(rule));
}

Optimizer adagrad(AdagradOptions options) {
  require::not_negative("adagrad", "initial_accumulator", options.initial_accumulator);
  require::not_negative("adagrad", "epsilon", options.epsilon);
  return optimizer("adagrad", options, {.slots = {{"accumulator", options.initial_accumulator}}, .amount = [=](const Update& u) {
                                          Tensor& total = u.slots[0];
                                          total = total + square(u.gradient);
                                          return u.rate * u.gradient / sqrt(total + options.epsilon);
                                        }});
}

Optimizer::Optimizer(const char* name) : Optimizer(std::string(name)) {}

Optimizer::Optimizer(const std::string& name) : Optimizer(make<Optimizer>(name)) {}

template <>
Registry& registry_of<Optimizer>() {
  return lasting_registry([] {
    auto* const made = new Registry("optimizer");
    made->table().add(detail::registered("sgd", sgd));
    made->table().add(detail::registered("adam", adam));
    made->table().add(detail::registered("adamw", adamw));
    made->table().add(detail::registered("rmsprop", rmsprop));
    made->table().add(detail::registered("adagrad", adagrad));
    return made;
  });
}

}  // namespace anyshape
