// What compile() makes of its options: a loss, a weight and metrics for every output, and the names under which all of it is reported.
#pragma once
#include <anyshape/model.h>

#include <string>
#include <vector>

namespace anyshape::model {

struct OutputMetric {
  Metric metric;  // the model's own, under the name that is reported
  size_t output = 0;
  bool is_weighted = false;  // by the samples' weights
};

struct Compiled {
  Optimizer optimizer;
  std::vector<std::string> outputs;  // names of those with a loss, or of all for a step of the user's own; "" where the network names none
  std::vector<size_t> positions;     // of these outputs among the network's
  size_t network_outputs = 1;        // how many it names, or one
  std::vector<Loss> losses;          // one per output; undefined where a step of the user's own needs none
  std::vector<double> loss_weights;  // likewise
  std::vector<OutputMetric> metrics;
  StepFunction step;
  bool run_eagerly = false;

  std::vector<std::string> loss_names() const;      // "price_loss", one per output; none where there is one output
  std::vector<std::string> reported_names() const;  // by evaluate, and by fit unless the step is the user's own
  Compiled with_own_metrics() const;                // the same with sums of their own
  Loss loss_of(size_t output) const { return output < losses.size() ? losses[output] : Loss(); }
};

// `outputs` are the network's names for them, none where it has none. ArgumentError for options that do not fit them, with the near names.
Compiled compiled(const CompileOptions& options, const std::vector<std::string>& outputs);

}  // namespace anyshape::model
