// The golden trainings of BatchNormalization: three calls, the moving statistics after each, and inference with them.
#include "nn/golden_layer.h"
#include "nn/named_weights.h"
#include "nn/notes.h"
#include "support/golden_values.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using support::GoldenCase;

class Training {
 public:
  explicit Training(const GoldenCase& golden)
      : golden_(golden),
        layer_(BatchNormalization({.momentum = number_or(golden.config, "momentum", 0.99),
                                   .epsilon = number_or(golden.config, "epsilon", 1e-3),
                                   .scale = flag_or(golden.config, "scale", true)})) {
    layer_.build(to_tensor(golden.inputs["x0"]).shape());
    set_weights();
  }

  void set_weights() const {
    for (const auto& [name, variable] : nn::named_weights(layer_)) variable.assign(to_tensor(golden_.weights[name]));
  }

  std::vector<Tensor> step(const Tensor& x) const {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const GoldenTensor* const mask = golden_.inputs.find("mask");
    const Tensor result = layer_(mask == nullptr ? x : nn::with_mask(x, to_tensor(*mask)), {.training = true});
    const Tensor loss = sum(result * to_tensor(golden_.upstream["0"]));
    std::vector<Tensor> results = {result, tape.gradient(loss, x)};
    for (const Variable& variable : layer_.trainable_variables()) results.push_back(tape.gradient(loss, variable));
    return results;
  }

  template <class Step>
  void expect(const Step& step, const std::string& how) const {
    const auto same = [&](const Tensor& got, const GoldenTensor& want, const std::string& name) {
      EXPECT_EQ(support::difference(to_golden(got), want, golden_.rtol, golden_.atol), "") << how << ": " << name;
    };
    for (int call = 0; call < 3; ++call) {
      const std::string number = std::to_string(call);
      const std::vector<Tensor> got = step(to_tensor(golden_.inputs["x" + number]));
      same(got[0], golden_.outputs[number], "out/" + number);
      for (const auto& [name, variable] : nn::named_weights(layer_)) {
        if (!variable.trainable()) same(variable.read(), golden_.after[name + number], "after/" + name + number);
      }
      if (call > 0) continue;
      same(got[1], golden_.gradients["x0"], "grad/x0");
      size_t next = 2;
      for (const Variable& variable : layer_.trainable_variables())
        same(got[next++], golden_.weight_gradients[variable.name()], "gradw/" + variable.name());
    }
    same(layer_(to_tensor(golden_.inputs["x0"])), golden_.outputs["inference"], "out/inference");
  }

 private:
  const GoldenCase& golden_;
  AnyLayer layer_;
};

TEST(GoldenBatchNormalization, trains_as_keras_does_eagerly_and_traced) {
  int cases = 0;
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.kind != "bn_train") continue;
    SCOPED_TRACE(golden.name);
    const Training training(golden);
    training.expect([&](const Tensor& x) { return training.step(x); }, "eager");
    training.set_weights();
    auto traced = function([&](Tensor x) { return training.step(x); }, {.name = golden.name, .check_frozen = false});
    training.expect([&](const Tensor& x) { return traced(x); }, "traced");
    EXPECT_EQ(traced.stats().traces, 1);
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

}  // namespace
}  // namespace anyshape::test
