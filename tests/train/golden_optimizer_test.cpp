// The golden optimizers and schedules: ten steps with given gradients, eagerly and in one traced step.
#include "support/golden_values.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

// Cases of Keras's optimizers that the library does not have yet.
const std::set<std::string> absent = {"adadelta", "nadam", "lamb", "adamax"};

double number_or(const Json& config, const char* name, double otherwise) {
  const Json* found = config.find(name);
  return found == nullptr || found->is_null() ? otherwise : found->number();
}
bool flag(const Json& config, const char* name) {
  const Json* found = config.find(name);
  return found != nullptr && !found->is_null() && found->boolean();
}

Schedule schedule_of(const std::string& name, const Json& config) {
  const double initial = number_or(config, "initial_learning_rate", 0);
  const auto steps = static_cast<int64_t>(number_or(config, "decay_steps", 1));
  if (name == "ExponentialDecay")
    return exponential_decay(initial, steps, config["decay_rate"].number(), {.staircase = flag(config, "staircase")});
  if (name == "InverseTimeDecay")
    return inverse_time_decay(initial, steps, config["decay_rate"].number(), {.staircase = flag(config, "staircase")});
  if (name == "CosineDecay") {
    CosineDecayOptions options{.alpha = number_or(config, "alpha", 0),
                               .warmup_steps = static_cast<int64_t>(number_or(config, "warmup_steps", 0))};
    if (config.find("warmup_target") != nullptr) options.warmup_target = config["warmup_target"].number();
    return cosine_decay(initial, steps, options);
  }
  if (name == "CosineDecayRestarts") {
    return cosine_decay_restarts(
        initial, config["first_decay_steps"].integer(),
        {.t_mul = number_or(config, "t_mul", 2), .m_mul = number_or(config, "m_mul", 1), .alpha = number_or(config, "alpha", 0)});
  }
  if (name == "PolynomialDecay") {
    return polynomial_decay(
        initial, steps,
        {.end = number_or(config, "end_learning_rate", 0.0001), .power = number_or(config, "power", 1), .cycle = flag(config, "cycle")});
  }
  if (name != "PiecewiseConstantDecay") throw std::runtime_error("no schedule for the golden " + name);
  std::vector<double> values;
  for (const Json& value : config["values"].items()) values.push_back(value.number());
  return piecewise_constant_decay(config["boundaries"].integers(), values);
}

Schedule rate_of(const Json& config, double otherwise) {
  const Json* rate = config.find("learning_rate");
  if (rate == nullptr) return otherwise;
  return rate->is_number() ? Schedule(rate->number()) : schedule_of((*rate)["class"].string(), (*rate)["config"]);
}

Optimizer optimizer_of(const GoldenCase& golden) {
  const Json& c = golden.config;
  const double decay = number_or(c, "weight_decay", 0), clipnorm = number_or(c, "clipnorm", 0), clipvalue = number_or(c, "clipvalue", 0),
               global_clipnorm = number_or(c, "global_clipnorm", 0);
  if (golden.op == "SGD") {
    return sgd({.learning_rate = rate_of(c, 0.01),
                .momentum = number_or(c, "momentum", 0),
                .nesterov = flag(c, "nesterov"),
                .weight_decay = decay,
                .clipnorm = clipnorm,
                .clipvalue = clipvalue,
                .global_clipnorm = global_clipnorm});
  }
  if (golden.op == "Adam") {
    return adam({.learning_rate = rate_of(c, 0.001),
                 .beta_1 = number_or(c, "beta_1", 0.9),
                 .beta_2 = number_or(c, "beta_2", 0.999),
                 .epsilon = number_or(c, "epsilon", 1e-7),
                 .amsgrad = flag(c, "amsgrad"),
                 .weight_decay = decay,
                 .clipnorm = clipnorm,
                 .clipvalue = clipvalue,
                 .global_clipnorm = global_clipnorm});
  }
  if (golden.op == "AdamW") {
    return adamw({.learning_rate = rate_of(c, 0.001), .weight_decay = number_or(c, "weight_decay", 0.004), .clipnorm = clipnorm});
  }
  if (golden.op == "RMSprop") {
    return rmsprop({.learning_rate = rate_of(c, 0.001),
                    .rho = number_or(c, "rho", 0.9),
                    .momentum = number_or(c, "momentum", 0),
                    .epsilon = number_or(c, "epsilon", 1e-7),
                    .centered = flag(c, "centered")});
  }
  if (golden.op != "Adagrad") throw std::runtime_error("no optimizer for the golden " + golden.op);
  return adagrad({.learning_rate = rate_of(c, 0.001), .initial_accumulator = number_or(c, "initial_accumulator_value", 0.1)});
}

class GoldenOptimizer : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenOptimizer, agrees_after_each_step_eagerly_and_traced) {
  const GoldenCase& golden = *GetParam();
  for (const bool traced : {false, true}) {
    Optimizer optimizer = optimizer_of(golden);
    std::vector<Variable> variables;
    for (const auto& [name, value] : golden.weights) variables.emplace_back(to_tensor(value), VariableOptions{.name = name});
    auto step = function([&](std::vector<Tensor> gradients) { optimizer.apply(gradients, variables); }, {.name = "step"});
    const int64_t steps = golden.record["steps"].integer();
    for (int64_t number = 0; number < steps; ++number) {
      std::vector<Tensor> gradients;
      for (size_t v = 0; v < variables.size(); ++v) {
        gradients.push_back(to_tensor(golden.inputs["g" + std::to_string(number) + "_v" + std::to_string(v)]));
      }
      if (traced) {
        step(gradients);
      } else {
        optimizer.apply(gradients, variables);
      }
      for (size_t v = 0; v < variables.size(); ++v) {
        const Tensor wanted = slice(to_tensor(golden.after["v" + std::to_string(v)]), {{.begin = number, .end = number + 1}});
        const Tensor got = expand_dims(variables[v].read(), 0);
        EXPECT_EQ(support::difference(to_golden(got), to_golden(wanted), golden.rtol, golden.atol), "")
            << "step " << number << (traced ? " traced" : " eager");
      }
    }
    if (traced) {
      EXPECT_EQ(step.stats().traces, 1);
    }
    EXPECT_EQ(optimizer.iterations().read().item<int64_t>(), steps);
  }
}

std::vector<const GoldenCase*> present() {
  std::vector<const GoldenCase*> cases = cases_of_kind("optimizer");
  std::erase_if(cases, [](const GoldenCase* golden) { return absent.contains(golden->name); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenOptimizer, testing::ValuesIn(present()), name_of_case);

TEST(GoldenOptimizers, leave_out_none_but_the_absent) {
  EXPECT_EQ(present().size() + absent.size(), cases_of_kind("optimizer").size());
  for (const std::string& name : absent) EXPECT_THROW(Optimizer{name}, ArgumentError) << name << " is there now: take it from the list";
}

class GoldenSchedule : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenSchedule, agrees_at_every_step_eagerly_and_in_one_trace) {
  const GoldenCase& golden = *GetParam();
  const Schedule schedule = schedule_of(golden.op, golden.config);
  auto traced = function([&](Tensor step) { return schedule(step); }, {.name = "schedule"});
  std::vector<float> rates, traced_rates;
  for (const Json& step : golden.record["steps"].items()) {
    const Tensor number = full({}, Tensor(step.integer()));
    rates.push_back(schedule(number).item<float>());
    traced_rates.push_back(traced(number).item<float>());
  }
  const auto count = static_cast<int64_t>(rates.size());
  EXPECT_EQ(support::difference(to_golden(tensor(rates, {count})), golden.outputs["0"], golden.rtol, golden.atol), "");
  EXPECT_EQ(support::difference(to_golden(tensor(traced_rates, {count})), golden.outputs["0"], golden.rtol, golden.atol), "") << "traced";
  EXPECT_EQ(traced.stats().traces, 1);
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenSchedule, testing::ValuesIn(cases_of_kind("schedule")), name_of_case);

}  // namespace
}  // namespace anyshape::test
