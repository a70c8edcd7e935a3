// Optimizers of the user's own: the rule is theirs, and everything around it works as for ours. Lion's numbers are computed on the host, too.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace anyshape::test {
namespace {

struct LionOptions {
  Schedule learning_rate = 0.01;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  double weight_decay = 0;
  double clipvalue = 0;
};

Optimizer lion(LionOptions options = {}) {
  return optimizer("lion", options, {.slots = {{"momentum"}}, .amount = [options](const Update& u) {
                                       Tensor& momentum = u.slots[0];
                                       const Tensor blend = options.beta_1 * momentum + (1 - options.beta_1) * u.gradient;
                                       momentum = options.beta_2 * momentum + (1 - options.beta_2) * u.gradient;
                                       return u.rate * sign(blend);
                                     }});
}

// The same on the host, in double: gradients are given, the rate rises over 4 steps and falls with 1 / step.
struct HostLion {
  std::vector<double> weight, momentum;
  double decay = 0.1, clip = 1.5;
  static double rate(int64_t finished) {
    return finished < 4 ? 0.02 * static_cast<double>(finished) / 4 : 0.08 / static_cast<double>(finished);
  }
  void step(const std::vector<double>& gradients, int64_t finished) {
    for (size_t i = 0; i < weight.size(); ++i) {
      const double gradient = std::clamp(gradients[i], -clip, clip), blend = 0.9 * momentum[i] + 0.1 * gradient;
      weight[i] -= rate(finished) * ((blend > 0 ? 1 : blend < 0 ? -1 : 0) + decay * weight[i]);
      momentum[i] = 0.99 * momentum[i] + 0.01 * gradient;
    }
  }
};

Schedule warm_up() {
  return [](const Tensor& step) {
    const Tensor finished = cast(step, Dtype::f32);
    return where(finished < 4, 0.02 * finished / 4, 0.08 / maximum(finished, 1));
  };
}

std::vector<double> gradients_of(int64_t step) {
  std::vector<double> gradients;
  for (int i = 0; i < 12; ++i) gradients.push_back(2 * std::sin(static_cast<double>(7 * step + 3 * i) + 0.5));
  return gradients;
}

class Lion : public testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, Lion, testing::Values(Dtype::f32, Dtype::f64),
                         [](const auto& each) { return std::string(each.param == Dtype::f32 ? "f32" : "f64"); });

TEST_P(Lion, agrees_with_the_host_eagerly_and_traced) {
  for (const bool traced : {false, true}) {
    HostLion host{.weight = std::vector<double>(12, 0.5), .momentum = std::vector<double>(12, 0)};
    const Variable weight(full({3, 4}, 0.5F) + zeros({3, 4}, {.dtype = GetParam()}), {.name = "weight"});
    ASSERT_EQ(weight.dtype(), GetParam());
    Optimizer own = lion({.learning_rate = warm_up(), .weight_decay = 0.1, .clipvalue = 1.5});
    auto step = function([&](Tensor gradient) { own.apply({gradient}, {weight}); }, {.name = "step"});
    for (int64_t i = 0; i < 12; ++i) {
      const std::vector<double> gradients = gradients_of(i);
      const Tensor gradient = cast(tensor(gradients, {3, 4}), GetParam());
      traced ? step(gradient) : own.apply({gradient}, {weight});
      host.step(gradients, i);
      EXPECT_TRUE(all_close(cast(weight, Dtype::f64), tensor(host.weight, {3, 4}), {.relative = 1e-5, .absolute = 1e-6})) << "step " << i;
      EXPECT_TRUE(all_close(cast(own.variables()[1], Dtype::f64), tensor(host.momentum, {3, 4}), {.relative = 1e-4, .absolute = 1e-6}));
    }
    EXPECT_EQ(step.stats().traces, traced ? 1 : 0);
    EXPECT_EQ(own.iterations().read().item<int64_t>(), 12);
  }
}

TEST(OwnOptimizers, have_names_slots_and_clones_as_ours) {
  const Variable weight(ones({2}), {.name = "weight"});
  Optimizer own = lion();
  EXPECT_EQ(own.name(), "lion");
  own.apply({ones({2})}, {weight});
  ASSERT_EQ(own.variables().size(), 3U);
  EXPECT_EQ(own.variables()[2].name(), "weight/momentum");
  Optimizer fresh = own.clone();
  EXPECT_EQ(fresh.name(), "lion");
  EXPECT_EQ(fresh.iterations().read().item<int64_t>(), 0);
  fresh.apply({ones({2})}, {weight});
  EXPECT_TRUE(all_close(weight, full({2}, 0.98F))) << "a clone has the rule, too";
  EXPECT_TRUE(all_close(fresh.variables()[2], own.variables()[2]));
}

TEST(OwnOptimizers, give_the_bits_of_ours_where_the_formula_is_the_same) {
  const OptimizerOptions options{.learning_rate = exponential_decay(0.3, 2, 0.5), .weight_decay = 0.01, .global_clipnorm = 0.7};
  const SgdOptions same{.learning_rate = options.learning_rate, .weight_decay = 0.01, .global_clipnorm = 0.7};
  const Variable a(ones({5}), {.name = "a"}), b(ones({5}), {.name = "b"});
  Optimizer own = optimizer("plain", options, {.amount = [](const Update& u) { return u.rate * u.gradient; }}), known = sgd(same);
  for (int i = 1; i < 6; ++i) {
    own.apply({a.read() * static_cast<float>(i)}, {a});
    known.apply({b.read() * static_cast<float>(i)}, {b});
    EXPECT_TRUE(all_equal(a, b)) << i;
  }
}

TEST(OwnOptimizers, see_the_step_and_the_variable) {
  const Variable weight(full({2}, 4.0F), {.name = "weight"});
  Optimizer own = optimizer("seeing", {.learning_rate = 0.5}, {.amount = [](const Update& u) { return u.rate * u.variable / u.step; }});
  auto step = function([&] { own.apply({zeros({2})}, {weight}); }, {.name = "step"});
  step();
  EXPECT_EQ(weight.read().to_vector<float>(), (std::vector<float>{2, 2})) << "4 - 0.5 * 4 / 1";
  step();
  EXPECT_EQ(weight.read().to_vector<float>(), (std::vector<float>{1.5, 1.5})) << "2 - 0.5 * 2 / 2";
  EXPECT_EQ(step.stats().traces, 1);
}

TEST(OwnOptimizers, keep_half_precision_where_the_rule_computes_in_f32) {
  const Variable weight(ones({2}, {.dtype = Dtype::bf16}), {.name = "weight"});
  Optimizer own = optimizer("wide", {.learning_rate = 0.5}, {.slots = {{"mean"}}, .amount = [](const Update& u) {
                                                               const Tensor wide = cast(u.gradient, Dtype::f32);
                                                               u.slots[0] = wide;
                                                               return cast(u.rate, Dtype::f32) * wide;
                                                             }});
  own.apply({ones({2}, {.dtype = Dtype::bf16})}, {weight});
  EXPECT_EQ(weight.read().to_vector<float>(), (std::vector<float>{0.5, 0.5}));
  EXPECT_EQ(own.variables()[2].dtype(), Dtype::bf16);
}

TEST(OwnOptimizers, train_in_fit_with_one_trace_and_slots_named_by_weights) {
  random::set_seed(2);
  const Tensor x = random::normal({100, 3}), y = sum(x, {.axes = {1}, .keep_dims = true});
  Sequential model(Dense(1, {.name = "line"}));
  model.compile({.optimizer = lion({.learning_rate = 0.02}), .loss = "mse"});
  const History history = model.fit(x, y, {.batch_size = 16, .epochs = 20, .verbose = Verbose::Silent});
  EXPECT_LT(history["loss"].back(), 0.05 * history["loss"].front());
  EXPECT_EQ(model.train_step().stats().traces, 1);
  EXPECT_EQ(model.optimizer().variables()[2].name(), "line/kernel/momentum");
}

UpdateRule with_slots(std::vector<UpdateRule::Slot> slots) {
  return {.slots = std::move(slots), .amount = [](const Update& u) { return u.rate * u.gradient; }};
}

TEST(OwnOptimizers, are_refused_where_their_rule_is_none) {
  EXPECT_EQ(text_of<ArgumentError>([] { optimizer("lion", {}, {}); }),
            "lion: .amount of the rule is an empty std::function; expected a callable.");
  EXPECT_EQ(text_of<ArgumentError>([] { optimizer("", {}, with_slots({})); }),
            "optimizer: the name is empty; expected one, for reports and errors.");
  EXPECT_EQ(text_of<ArgumentError>([] { optimizer("lion", {}, with_slots({{"a/b"}})); }),
            "lion: a slot is named \"a/b\"; expected a name without a slash.");
  EXPECT_EQ(text_of<ArgumentError>([] { optimizer("lion", {}, with_slots({{"m"}, {"m"}})); }),
            "lion: two slots are named \"m\"; expected names of their own.");
  EXPECT_EQ(text_of<ArgumentError>([] { lion({.weight_decay = -1}); }), "lion: weight_decay is -1; expected 0 or more.");
}

TEST(OwnOptimizers, say_what_their_rule_made_and_change_nothing) {
  const Variable weight(ones({2, 3}), {.name = "weight"});
  const auto error = [&](auto amount) {
    Optimizer own = optimizer("odd", {}, {.slots = {{"mean"}}, .amount = amount});
    const std::string text = text_of<Error>([&] { own.apply({ones({2, 3})}, {weight}); });
    EXPECT_EQ(own.iterations().read().item<int64_t>(), 0);
    EXPECT_TRUE(all_equal(weight, ones({2, 3})));
    return text;
  };
  EXPECT_EQ(error([](const Update& u) { return expand_dims(u.gradient, 0); }),
            "odd: the rule makes the variable f32[1, 2, 3]; expected the shape of its variable \"weight\", [2, 3].");
  EXPECT_EQ(error([](const Update& u) {
              u.slots[0] = sum(u.gradient);
              return u.gradient;
            }),
            "odd: the rule makes slot \"mean\" f32[]; expected the shape of its variable \"weight\", [2, 3].");
  EXPECT_EQ(error([](const Update&) { return Tensor(); }), "odd: .amount of the rule gave an empty tensor handle; expected a tensor.");
  EXPECT_EQ(error([](const Update& u) {
              u.slots.clear();
              return u.gradient;
            }),
            "odd: the rule left 0 slots; expected the 1 it names.");
}

}  // namespace
}  // namespace anyshape::test
