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
  if (!parts || parts->outputs.empty()) sums_.whole.add(loss, by_rows);
  if (!parts) return;
  if (sums_.own.size() < parts->metrics.size()) sums_.own.resize(parts->metrics.size());
  for (size_t i = 0; i < parts->metrics.size(); ++i) {
    sums_.own[i].name = parts->metrics[i].first;
    sums_.own[i].sum.add(parts->metrics[i].second, by_rows);
  }
  if (parts->outputs.empty()) return;
  if (sums_.outputs.size() < parts->outputs.size()) sums_.outputs.resize(parts->outputs.size());
  for (size_t i = 0; i < parts->outputs.size(); ++i) {
    const auto& [value, weight] = parts->outputs[i];
    sums_.outputs[i].add(value, weight.value_or(by_rows));
  }
  sums_.added.add(parts->added, by_rows);
  sums_.rows_in_parts += by_rows;
}

Scores EpochScores::so_far() const {
  Scores scores;
  double in_parts = sums_.added.mean();
  for (size_t i = 0; i < sums_.outputs.size(); ++i) in_parts += compiled_.loss_weights[i] * sums_.outputs[i].mean();
  Sum loss = sums_.whole;
  loss.add(in_parts, sums_.rows_in_parts);  // where a dataset has batches of both kinds
  scores.set("loss", loss.mean());
  const std::vector<std::string> names = compiled_.loss_names();
  for (size_t i = 0; i < std::min(names.size(), sums_.outputs.size()); ++i) scores.set(names[i], sums_.outputs[i].mean());
  for (const OutputMetric& each : compiled_.metrics) scores.set(each.metric.name(), each.metric.result().item<double>());
  for (const auto& [name, sum] : sums_.own) scores.set(name, sum.mean());
  return scores;
}

}  // namespace anyshape::model
