// A loss behind its handle: values per row or position, and how they become one.
#pragma once
#include "train/operands.h"

#include <anyshape/loss.h>
#include <anyshape/registry.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

using detail::LossImpl;

struct detail::LossImpl {
  using Rule = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;

  std::string name = {};
  std::string_view other_form = {};  // its twin for labels in the other form: class numbers, or a column per class
  train::TargetKind target = train::TargetKind::Same;
  int axis = -1;  // of the elements or classes; the last one when a rule is called
  // One of three: a value per element, of which a row or position has the mean; a value per row or position; a user's callable, which takes
  // target and prediction as they are.
  Rule elements = {};
  Rule values = {};
  Rule callable = {};
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;                        // NaN in the target does not count
  std::optional<int64_t> ignore_class = {};           // nor does this class number
  std::shared_ptr<const LossImpl> from_sigmoid = {};  // the same loss on logits, for a prediction that is a sigmoid
  std::shared_ptr<const LossImpl> from_softmax = {};  // or a softmax
  std::shared_ptr<const detail::Made> made = {};      // none: a callable of the user's
  // Which loss it is for these shapes ("accuracy" is one of three).
  std::function<std::shared_ptr<const LossImpl>(const Tensor& target, const Tensor& prediction)> choose = {};

  std::optional<Dtype> target_dtype() const;  // what fit casts targets to; none: as they are
};

namespace train {

Loss make_loss(LossImpl loss);
// Likewise; it knows that it was made of these.
template <class Options>
Loss make_loss(LossImpl loss, const Options& options) {
  loss.made = detail::made_from(loss.name, options);
  return make_loss(std::move(loss));
}

struct LossValues {
  Tensor values;                               // one per row or position: 0 where it does not count
  Tensor weights;                              // of samples, to be broadcast to the values; undefined: all 1
  Tensor counts;                               // how many elements each value is the sum of, as the values; undefined: all 1
  std::shared_ptr<const Partition> rows = {};  // of positions of ragged rows
};

// Values with masks, ragged rows and missing targets taken into account: what losses and metrics reduce.
LossValues loss_values(const LossImpl& loss, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight);

Tensor weighted_sum(const LossValues& values);
Tensor weighted_count(const LossValues& values);
Tensor reduce(const LossValues& values, Reduction reduction);

// The loss of a batch as one number, and what it weighs beside other batches: the mean over an epoch does not depend on how it was cut.
struct WeighedLoss {
  Tensor value;   // by the loss's reduction; the mean for Reduction::None
  Tensor weight;  // the number that the sum of values was divided by; undefined: as many as there are rows
};
WeighedLoss weighed_loss(const LossImpl& loss, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight);

}  // namespace train
}  // namespace anyshape
