// Ragged = padded and masked = row by row, for every metric, with and without weights.
#include "train/rows.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

struct MetricCase {
  std::string name;
  Targets targets;
  bool is_elementwise = false;
  Metric metric = {};  // none: by its name
};

std::vector<MetricCase> all_metrics() {
  return {
      {"accuracy", Targets::Classes},
      {"accuracy", Targets::OneHot},
      {"binary_accuracy", Targets::Binary, true},
      {"categorical_accuracy", Targets::OneHot},
      {"sparse_categorical_accuracy", Targets::Classes},
      {"top_k_categorical_accuracy", Targets::OneHot, false, top_k_categorical_accuracy({.k = 2})},
      {"sparse_top_k_categorical_accuracy", Targets::Classes, false, sparse_top_k_categorical_accuracy({.k = 2})},
      {"precision", Targets::Binary, true},
      {"recall", Targets::Binary, true, recall({.thresholds = {0.2, 0.6}})},
      {"auc", Targets::Binary, true},
      {"auc", Targets::Binary, true, auc({.thresholds = 10, .curve = Curve::PrecisionRecall})},
      {"f1_score", Targets::OneHot},
      {"f1_score", Targets::Binary, false, f1_score({.average = Average::None, .threshold = 0.5})},
      {"f1_score", Targets::OneHot, false, f1_score({.average = Average::Micro})},
      {"f1_score", Targets::OneHot, false, f1_score({.average = Average::Weighted})},
      {"mse", Targets::Numbers, true},
      {"root_mean_squared_error", Targets::Numbers, true},
      {"binary_crossentropy", Targets::Binary, true},
      {"mean", Targets::Numbers, false, mean_metric([](const Tensor& y, const Tensor& p) { return mean(abs(y - p), {.axes = {-1}}); })}};
}

class MetricOfRows : public testing::TestWithParam<MetricCase> {};

TEST_P(MetricOfRows, is_the_same_ragged_masked_and_row_by_row) {
  const MetricCase& each = GetParam();
  const Metric given = each.metric.defined() ? each.metric : Metric(each.name);
  for (const Lengths& lengths : all_lengths()) {
    if (lengths.empty()) continue;
    const int64_t total = total_of(lengths);
    for (const int64_t classes : {int64_t{4}, int64_t{0}}) {
      if (classes == 0 && !each.is_elementwise) continue;
      const Tensor values = numbers(classes == 0 ? Shape{total} : Shape{total, classes}, 1);
      const Tensor target = targets(each.targets, total, classes);
      const Tensor ragged = ragged_from_lengths(values, lengths_tensor(lengths)), ragged_target = with_rows_of(target, ragged);
      const Tensor weight = numbers({static_cast<int64_t>(lengths.size())}, 3);
      for (const bool is_weighted : {false, true}) {
        const Metric of_ragged = given.clone(), of_masked = given.clone(), of_rows = given.clone();
        const auto update = [&](Metric metric, const Tensor& y, const Tensor& p, const Tensor& w) {
          is_weighted ? metric.update(y, p, w) : metric.update(y, p);
        };
        update(of_ragged, ragged_target, ragged, weight);
        update(of_masked, to_padded(ragged_target), masked(ragged), weight);
        const std::vector<Tensor> rows = split_rows(values, lengths), own_targets = split_rows(target, lengths);
        const std::vector<double> weights = weight.to_vector<double>();
        for (size_t r = 0; r < rows.size(); ++r) update(of_rows, own_targets[r], rows[r], full({lengths[r]}, weights[r]));
        const Tensor wanted = of_rows.result();
        EXPECT_TRUE(all_close(of_ragged.result(), wanted, {.relative = 1e-6, .absolute = 1e-6}))
            << total << " positions, " << classes << " columns: " << to_string(of_ragged.result()) << " for " << to_string(wanted);
        EXPECT_TRUE(all_close(of_masked.result(), wanted, {.relative = 1e-6, .absolute = 1e-6}))
            << total << " positions, " << classes << " columns, masked: " << to_string(of_masked.result()) << " for " << to_string(wanted);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, MetricOfRows, testing::ValuesIn(all_metrics()),
                         [](const testing::TestParamInfo<MetricCase>& info) { return info.param.name + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace anyshape::test
