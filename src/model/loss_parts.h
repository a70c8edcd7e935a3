// The loss of a step in parts that weigh differently beside other batches: each output by its rows or real positions, what layers and
// weights add by rows. A step gives one number; where that is not enough for what an epoch reports, it leaves the parts here, and a step of
// the user's own its metrics.
#pragma once
#include "base/fork_mutex.h"
#include "train/loss_impl.h"

#include <anyshape/variable.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::model {

struct LossParts {
  std::vector<train::WeighedLoss> outputs;
  std::vector<double> weights;  // of the outputs, in the sum
  Tensor added;                 // by layers, and penalties on weights; undefined: nothing

  Tensor total() const;
};

// On the host: numbers of one step.
struct PartValues {
  struct Part {
    double value;
    std::optional<double> weight;  // none: as many as there are rows
  };
  std::vector<Part> outputs;
  double added = 0;
  std::vector<std::pair<std::string, double>> metrics = {};  // of a step of the user's own
};

// Where a step leaves its parts: a variable that is only assigned where there are several outputs, or one does not weigh as much as it has
// rows.
class PartsReport {
 public:
  void leave(const LossParts& parts);  // in the step
  // Likewise of the user's own. ArgumentError for a metric that is no number, or has another's name, and where it gave others before.
  void leave(const std::vector<std::pair<std::string, Tensor>>& metrics);
  // What the step that has just run left, or nothing: then the whole loss weighs by rows.
  std::optional<PartValues> take();

 private:
  Variable variable(int64_t count);  // made where it is not there

  ForkMutex mutex_;
  std::vector<std::string> metrics_;  // by the user's own step
  Variable values_;
  Tensor seen_;  // holds the last value, so that a new one has memory of its own
};

}  // namespace anyshape::model
