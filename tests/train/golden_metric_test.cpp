// The golden metrics: batches one after the other, the result after each.
#include "support/golden_values.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <stdexcept>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

Metric metric_of(const GoldenCase& golden) {
  const Json& c = golden.config;
  const auto thresholds = [&] {
    ThresholdsOptions options;
    if (const Json* given = c.find("thresholds")) {
      if (given->is_number()) options.thresholds = {given->number()};
      if (given->is_array()) {
        for (const Json& each : given->items()) options.thresholds.push_back(each.number());
      }
    }
    return options;
  };
  if (golden.op == "Accuracy") return mean_metric([](const Tensor& y, const Tensor& p) { return cast(y == p, Dtype::f32); }, "accuracy");
  if (golden.op == "BinaryAccuracy") return binary_accuracy({.threshold = c.find("threshold") == nullptr ? 0.5 : c["threshold"].number()});
  if (golden.op == "CategoricalAccuracy") return categorical_accuracy();
  if (golden.op == "SparseCategoricalAccuracy") return sparse_categorical_accuracy();
  if (golden.op == "TopKCategoricalAccuracy") return top_k_categorical_accuracy({.k = c["k"].integer()});
  if (golden.op == "SparseTopKCategoricalAccuracy") return sparse_top_k_categorical_accuracy({.k = c["k"].integer()});
  if (golden.op == "Precision") return precision(thresholds());
  if (golden.op == "Recall") return recall(thresholds());
  if (golden.op == "F1Score") return f1_score({.average = Average::Macro});
  if (golden.op == "AUC") {
    return auc({.thresholds = c.find("num_thresholds") == nullptr ? 200 : c["num_thresholds"].integer(),
                .curve = c.find("curve") == nullptr ? Curve::Roc : Curve::PrecisionRecall});
  }
  if (golden.op == "MeanAbsoluteError") return mae();
  if (golden.op == "RootMeanSquaredError") return root_mean_squared_error();
  if (golden.op == "BinaryCrossentropy") return binary_crossentropy();
  if (golden.op == "MeanSquaredError") return mse();
  throw std::runtime_error("no metric for the golden " + golden.op);
}

class GoldenMetric : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenMetric, agrees_after_each_batch_eagerly_and_traced) {
  const GoldenCase& golden = *GetParam();
  for (const bool traced : {false, true}) {
    Metric metric = metric_of(golden);
    auto update =
        function([&](Tensor y, Tensor p, std::optional<Tensor> weight) { weight ? metric.update(y, p, *weight) : metric.update(y, p); },
                 {.name = "update"});
    for (int64_t batch = 0; batch < golden.record["batches"].integer(); ++batch) {
      const std::string number = std::to_string(batch);
      const Tensor y = to_tensor(golden.inputs["y_true" + number]), p = to_tensor(golden.inputs["y_pred" + number]);
      const GoldenTensor* weight = golden.inputs.find("weight" + number);
      const std::optional<Tensor> weights = weight == nullptr ? std::nullopt : std::optional(to_tensor(*weight));
      if (traced) {
        update(y, p, weights);
      } else {
        weights ? metric.update(y, p, *weights) : metric.update(y, p);
      }
      EXPECT_EQ(support::difference(to_golden(metric.result()), golden.outputs[number], golden.rtol, golden.atol), "")
          << "batch " << batch << (traced ? " traced" : " eager");
    }
    metric.reset();
    for (const Variable& sum : metric.variables()) EXPECT_EQ(max(abs(sum.read())).item<double>(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenMetric, testing::ValuesIn(cases_of_kind("metric")), name_of_case);

}  // namespace
}  // namespace anyshape::test
