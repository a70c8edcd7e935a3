// A loss behind its handle: values per row or position, and how they become one.
#pragma once
#include <anyshape/loss.h>

#include <functional>
#include <optional>
#include <string>

namespace anyshape {

struct LossImpl {
  std::string name = {};
  // One value per row (or position) of target and prediction, which have the same rank where `same_rank` says so.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> values = {};
  Reduction reduction = Reduction::SumOverBatchSize;
  bool same_rank = true;                   // a target (n,) is made (n, 1) for a prediction (n, 1): never an (n, n) broadcast
  std::optional<Dtype> target_dtype = {};  // what the target is cast to; none: as given
  // With ignore_missing: one value per element, of which those with a missing (NaN) target do not count.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> elements = {};
  bool ignore_missing = false;
  std::function<Tensor(const Tensor& target)> counts = {};  // b8 per value: does it count at all? (ignore_class)
};

namespace train {

struct LossValues {
  Tensor values;   // one per row or position
  Tensor weights;  // as `values` or broadcastable; undefined: all 1
  Tensor counts;   // how many each value stands for in the divisor; undefined: 1
};

// Values with masks, ragged rows and missing targets taken into account; what metrics and losses both reduce.
LossValues loss_values(const LossImpl& loss, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight);
Tensor reduce(const LossValues& values, Reduction reduction);

}  // namespace train
}  // namespace anyshape
