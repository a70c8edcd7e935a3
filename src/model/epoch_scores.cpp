// Means over batches.
#include "model/epoch_scores.h"

namespace anyshape::model {

EpochScores::EpochScores(const CompileOptions& options) : options_(options) {
  for (const Metric& metric : options.metrics) metric.reset();
  for (const Metric& metric : options.weighted_metrics) metric.reset();
}

void EpochScores::add(double loss, int64_t rows) {
  total_ += loss * static_cast<double>(rows);
  rows_ += rows;
}

Scores EpochScores::so_far() const {
  Scores scores;
  scores.set("loss", rows_ == 0 ? 0 : total_ / static_cast<double>(rows_));
  for (const Metric& metric : options_.metrics) scores.set(metric.name(), metric.result().item<double>());
  for (const Metric& metric : options_.weighted_metrics) scores.set(metric.name(), metric.result().item<double>());
  return scores;
}

}  // namespace anyshape::model
