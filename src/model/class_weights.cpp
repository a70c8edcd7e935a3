// From classes to rows.
#include "model/class_weights.h"
#include "base/option_rules.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::model {

Tensor weights_of_classes(const std::vector<Tensor>& targets, const std::map<int64_t, double>& class_weight) {
  if (targets.size() != 1) {
    throw ArgumentError(
        fmt::format("fit: class_weight with {} targets; expected one. Give sample_weight by the outputs' names.", targets.size()));
  }
  const Tensor& target = targets[0];
  if (target.is_ragged() || target.rank() > 2) {
    throw ShapeError(
        fmt::format("fit: class_weight needs a class per row; the targets are {}; expected [rows], [rows, 1] or [rows, classes]. Give "
                    "sample_weight for others.",
                    to_string(target.shape())));
  }
  for (const auto& [label, weight] : class_weight) require::not_negative("fit", fmt::format("class_weight of class {}", label), weight);
  const bool is_one_hot = target.rank() == 2 && target.shape()[1].value() > 1;
  const Tensor labels = cast(is_one_hot ? argmax(target, {.axis = -1}) : reshape(target, {target.shape()[0]}), Dtype::i64);
  Tensor weights = ones({labels.shape()[0]});
  for (const auto& [label, weight] : class_weight) weights = where(labels == label, static_cast<float>(weight), weights);
  return weights;
}

}  // namespace anyshape::model
