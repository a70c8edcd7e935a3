// Names as in Keras: after the output where there are several; a weighted metric beside its plain one is "weighted_".
#include "model/reported_metrics.h"

#include "train/metric_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace anyshape::model {
namespace {

using Names = std::set<std::string>;

std::string numbered(const Names& taken, const std::string& name) {
  std::string own = name;
  for (int64_t number = 1; taken.contains(own); ++number) own = fmt::format("{}_{}", name, number);
  return own;
}

// Metrics are this model's: one object in two models would add up both.
std::vector<Metric> own_metrics(const std::vector<Metric>& metrics, const std::vector<std::string>& outputs, bool weighted, Names& taken) {
  const Names plain = taken;
  std::vector<Metric> own;
  for (const Metric& metric : metrics) {
    for (size_t output = 0; output < std::max<size_t>(outputs.size(), 1); ++output) {
      std::string prefix;
      if (outputs.size() > 1) prefix = (outputs[output].empty() ? fmt::format("output{}", output) : outputs[output]) + "_";
      const bool has_plain = weighted && plain.contains(prefix + metric.name());
      own.push_back(metric.clone());
      own.back().impl()->rename(numbered(taken, prefix + (has_plain ? "weighted_" : "") + metric.name()));
      taken.insert(own.back().name());
    }
  }
  return own;
}

}  // namespace

void make_own_metrics(CompileOptions& options, const std::vector<std::string>& outputs) {
  Names taken = {"loss"};
  options.metrics = own_metrics(options.metrics, outputs, false, taken);
  options.weighted_metrics = own_metrics(options.weighted_metrics, outputs, true, taken);
}

std::vector<std::string> reported_names(const CompileOptions& options) {
  std::vector<std::string> names = {"loss"};
  for (const Metric& metric : options.metrics) names.push_back(metric.name());
  for (const Metric& metric : options.weighted_metrics) names.push_back(metric.name());
  return names;
}

}  // namespace anyshape::model
