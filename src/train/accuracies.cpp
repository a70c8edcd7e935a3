// Metrics that are means of hits: the accuracies, top-k, and means of a user's values.
#include "train/mean_metric.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

using train::mean_of_values;

Tensor hits(const Tensor& matches) { return cast(matches, Dtype::f32); }

Tensor binary_hits(const Tensor& target, const Tensor& prediction, double threshold) {
  const Tensor chosen = cast(prediction > threshold, prediction.dtype());
  return mean(hits(cast(target, prediction.dtype()) == chosen), {.axes = {-1}});
}

Tensor class_numbers(const Tensor& target, const Tensor& prediction) {
  const Tensor flat = target.rank() == prediction.rank() ? squeeze(target, {-1}) : target;
  return cast(flat, Dtype::i32);
}

Tensor sparse_hits(const Tensor& target, const Tensor& prediction) {
  return hits(class_numbers(target, prediction) == cast(argmax(prediction, {.axis = -1}), Dtype::i32));
}

Tensor categorical_hits(const Tensor& target, const Tensor& prediction) {
  return hits(argmax(target, {.axis = -1}) == argmax(prediction, {.axis = -1}));
}

// Fewer than k classes have a greater score: ties count as hits, as in Keras.
Tensor top_k_hits(const Tensor& labels, const Tensor& prediction, int64_t k) {
  const Tensor own = take_along_axis(prediction, expand_dims(labels, -1), {.axis = -1});
  return hits(sum(cast(prediction > own, Dtype::i32), {.axes = {-1}}) < k);
}

}  // namespace

// Keras's choice: one column of predictions is binary; labels of lower rank or one column are class numbers; else one-hot.
Metric accuracy() {
  return mean_of_values("accuracy", {.name = "accuracy",
                                     .values =
                                         [](const Tensor& target, const Tensor& prediction) {
                                           const bool is_column = prediction.shape()[-1].same_as(1);
                                           if (is_column) {
                                             const Tensor labels = target.rank() < prediction.rank() ? expand_dims(target, -1) : target;
                                             return binary_hits(labels, prediction, 0.5);
                                           }
                                           const bool is_number = target.rank() < prediction.rank() || target.shape()[-1].same_as(1);
                                           return is_number ? sparse_hits(target, prediction) : categorical_hits(target, prediction);
                                         },
                                     .same_rank = false});
}

Metric binary_accuracy(ThresholdOptions options) {
  return mean_of_values("binary_accuracy", {.name = "binary_accuracy", .values = [=](const Tensor& target, const Tensor& prediction) {
                                              return binary_hits(target, prediction, options.threshold);
                                            }});
}
Metric categorical_accuracy() {
  return mean_of_values("categorical_accuracy", {.name = "categorical_accuracy", .values = categorical_hits});
}
Metric sparse_categorical_accuracy() {
  return mean_of_values("sparse_categorical_accuracy", {.name = "sparse_categorical_accuracy", .values = sparse_hits, .same_rank = false});
}
Metric top_k_categorical_accuracy(TopKOptions options) {
  return mean_of_values("top_k_categorical_accuracy",
                        {.name = "top_k_categorical_accuracy", .values = [k = options.k](const Tensor& target, const Tensor& prediction) {
                           return top_k_hits(cast(argmax(target, {.axis = -1}), Dtype::i32), prediction, k);
                         }});
}
Metric sparse_top_k_categorical_accuracy(TopKOptions options) {
  return mean_of_values("sparse_top_k_categorical_accuracy", {.name = "sparse_top_k_categorical_accuracy",
                                                              .values =
                                                                  [k = options.k](const Tensor& target, const Tensor& prediction) {
                                                                    return top_k_hits(class_numbers(target, prediction), prediction, k);
                                                                  },
                                                              .same_rank = false});
}

Metric root_mean_squared_error() { return mean_of_values("root_mean_squared_error", *mean_squared_error().impl(), train::Root::Square); }

Metric mean_metric(std::function<Tensor(const Tensor&, const Tensor&)> callable, std::string name) {
  return mean_of_values(name, {.name = name, .values = std::move(callable), .same_rank = false});
}

}  // namespace anyshape
