// The golden losses: values and gradients, eagerly and in a traced function.
#include "nn/notes.h"
#include "support/golden_values.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <map>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

double number_or(const Json& config, const char* name, double otherwise) {
  const Json* found = config.find(name);
  return found == nullptr || found->is_null() ? otherwise : found->number();
}
bool flag(const Json& config, const char* name) {
  const Json* found = config.find(name);
  return found != nullptr && found->boolean();
}

Reduction reduction_of(const Json& config) {
  const Json* found = config.find("reduction");
  if (found == nullptr) return Reduction::SumOverBatchSize;
  const std::map<std::string, Reduction> names = {{"sum", Reduction::Sum},
                                                  {"mean", Reduction::Mean},
                                                  {"none", Reduction::None},
                                                  {"sum_over_batch_size", Reduction::SumOverBatchSize},
                                                  {"mean_with_sample_weight", Reduction::MeanWithSampleWeight}};
  return names.at(found->is_null() ? "none" : found->string());
}

Loss loss_of(const GoldenCase& golden) {
  const Json& config = golden.config;
  const Reduction reduction = reduction_of(config);
  const CrossentropyOptions crossentropy{
      .from_logits = flag(config, "from_logits"), .label_smoothing = number_or(config, "label_smoothing", 0), .reduction = reduction};
  if (golden.op == "BinaryCrossentropy") return binary_crossentropy(crossentropy);
  if (golden.op == "CategoricalCrossentropy") return categorical_crossentropy(crossentropy);
  if (golden.op == "SparseCategoricalCrossentropy") {
    SparseCrossentropyOptions options{.from_logits = flag(config, "from_logits"), .reduction = reduction};
    if (const Json* ignored = config.find("ignore_class")) options.ignore_class = ignored->integer();
    return sparse_categorical_crossentropy(options);
  }
  if (golden.op == "BinaryFocalCrossentropy") {
    return binary_focal_crossentropy({.gamma = number_or(config, "gamma", 2),
                                      .apply_class_balancing = flag(config, "apply_class_balancing"),
                                      .alpha = number_or(config, "alpha", 0.25),
                                      .from_logits = flag(config, "from_logits"),
                                      .reduction = reduction});
  }
  if (golden.op == "Huber") return huber({.delta = number_or(config, "delta", 1), .reduction = reduction});
  if (golden.op == "CosineSimilarity") {
    return cosine_similarity({.axis = static_cast<int>(number_or(config, "axis", -1)), .reduction = reduction});
  }
  const std::map<std::string, Loss (*)(LossOptions)> plain = {{"MeanSquaredError", mean_squared_error},
                                                              {"MeanAbsoluteError", mean_absolute_error},
                                                              {"MeanAbsolutePercentageError", mean_absolute_percentage_error},
                                                              {"MeanSquaredLogarithmicError", mean_squared_logarithmic_error},
                                                              {"LogCosh", log_cosh},
                                                              {"KLDivergence", kl_divergence},
                                                              {"Hinge", hinge},
                                                              {"SquaredHinge", squared_hinge},
                                                              {"Poisson", poisson}};
  return plain.at(golden.op)({.reduction = reduction});
}

std::vector<Tensor> value_and_gradient(const GoldenCase& golden, const Tensor& target, const Tensor& prediction) {
  const Loss loss = loss_of(golden);
  const GoldenTensor* weight = golden.inputs.find("sample_weight");
  const GoldenTensor* mask = golden.inputs.find("mask");
  const GoldenTensor* upstream = golden.upstream.find("0");
  GradientTape tape;
  tape.watch(prediction);
  const Tensor masked = mask == nullptr ? prediction : nn::with_mask(prediction, to_tensor(*mask));
  const Tensor value = weight == nullptr ? loss(target, masked) : loss(target, masked, to_tensor(*weight));
  const Tensor scalar = upstream == nullptr ? value : sum(value * to_tensor(*upstream));
  return {value, tape.gradient(scalar, prediction)};
}

class GoldenLoss : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenLoss, agrees_eagerly_and_traced) {
  const GoldenCase& golden = *GetParam();
  const Tensor target = to_tensor(golden.inputs["y_true"]), prediction = to_tensor(golden.inputs["y_pred"]);
  const auto compare = [&](const std::vector<Tensor>& got, const char* how) {
    EXPECT_EQ(support::difference(to_golden(got[0]), golden.outputs["0"], golden.rtol, golden.atol), "") << how;
    const GoldenTensor* gradient = golden.gradients.find("y_pred");
    ASSERT_NE(gradient, nullptr);
    EXPECT_EQ(support::difference(to_golden(got[1]), *gradient, golden.rtol, golden.atol), "") << how;
  };
  compare(value_and_gradient(golden, target, prediction), "eager");
  auto traced = function([&](Tensor y, Tensor p) { return value_and_gradient(golden, y, p); }, {.name = golden.name});
  compare(traced(target, prediction), "traced");
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenLoss, testing::ValuesIn(cases_of_kind("loss")), name_of_case);

}  // namespace
}  // namespace anyshape::test
