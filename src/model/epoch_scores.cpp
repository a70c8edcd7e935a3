// Means over batches.
#include "model/epoch_scores.h"

#include <algorithm>

namespace anyshape::model {

EpochScores::EpochScores(const Compiled& compiled) : compiled_(compiled) {
  for (OutputMetric each : compiled.metrics) each.metric.reset();
}

// A batch without weight says nothing, whatever its value.
void EpochScores::Sum::add(double value, double times) {
  if (times == 0) return;
  total += value * times;
  weight += times;
}

void EpochScores::add(double loss, int64_t rows, const std::optional<PartValues>& parts) {
  const auto by_rows = static_cast<double>(rows);
  if (!parts || parts->outputs.empty()) whole_.add(loss, by_rows);
  if (!parts) return;
  if (own_.size() < parts->metrics.size()) own_.resize(parts->metrics.size());
  for (size_t i = 0; i < parts->metrics.size(); ++i) {
    own_[i].first = parts->metrics[i].first;
    own_[i].second.add(parts->metrics[i].second, by_rows);
  }
  if (parts->outputs.empty()) return;
  if (outputs_.size() < parts->outputs.size()) outputs_.resize(parts->outputs.size());
  for (size_t i = 0; i < parts->outputs.size(); ++i) {
    const auto& [value, weight] = parts->outputs[i];
    outputs_[i].add(value, weight.value_or(by_rows));
  }
  added_.add(parts->added, by_rows);
  rows_in_parts_ += by_rows;
}

Scores EpochScores::so_far() const {
  Scores scores;
  double in_parts = added_.mean();
  for (size_t i = 0; i < outputs_.size(); ++i) in_parts += compiled_.loss_weights[i] * outputs_[i].mean();
  Sum loss = whole_;
  loss.add(in_parts, rows_in_parts_);  // where a dataset has batches of both kinds
  scores.set("loss", loss.mean());
  const std::vector<std::string> names = compiled_.loss_names();
  for (size_t i = 0; i < std::min(names.size(), outputs_.size()); ++i) scores.set(names[i], outputs_[i].mean());
  for (const OutputMetric& each : compiled_.metrics) scores.set(each.metric.name(), each.metric.result().item<double>());
  for (const auto& [name, sum] : own_) scores.set(name, sum.mean());
  return scores;
}

}  // namespace anyshape::model
