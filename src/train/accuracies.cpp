// Metrics that are means of hits: the accuracies and top-k.
#include "base/option_rules.h"
#include "train/mean_metric.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

using train::mean_of_values;
using train::TargetKind;

Tensor hits(const Tensor& matches) { return cast(matches, Dtype::f32); }

LossImpl binary_hits(std::string name, double threshold) {
  return {.name = std::move(name), .elements = [threshold](const Tensor& target, const Tensor& prediction) {
            return hits(target == cast(prediction > threshold, prediction.dtype()));
          }};
}

LossImpl categorical_hits(std::string name) {
  return {
      .name = std::move(name), .other_form = "sparse_categorical_accuracy", .values = [](const Tensor& target, const Tensor& prediction) {
        return hits(argmax(target, {.axis = -1}) == argmax(prediction, {.axis = -1}));
      }};
}

LossImpl sparse_hits(std::string name) {
  return {.name = std::move(name),
          .other_form = "categorical_accuracy",
          .target = TargetKind::Classes,
          .values = [](const Tensor& labels, const Tensor& prediction) { return hits(labels == argmax(prediction, {.axis = -1})); }};
}

// Fewer than k classes have a greater score: ties count as hits, as in Keras.
Tensor top_k_hits(const Tensor& labels, const Tensor& prediction, int64_t k) {
  const Tensor own = take(prediction, labels, {.axis = labels.rank(), .batch_dims = labels.rank(), .from_end = false});
  return hits(sum(cast(prediction > expand_dims(own, -1), Dtype::i32), {.axes = {-1}}) < k);
}

int64_t required_k(const char* metric, const TopKOptions& options) {
  if (options.k < 1) throw ArgumentError(fmt::format("{}: k is {}; expected at least 1.", metric, options.k));
  return options.k;
}

}  // namespace

// Keras's choice: one column of predictions is binary; labels of lower rank or one column are class numbers; else one-hot.
Metric accuracy() {
  using Choice = std::shared_ptr<const LossImpl>;
  const Choice binary = std::make_shared<const LossImpl>(binary_hits("accuracy", 0.5)),
               sparse = std::make_shared<const LossImpl>(sparse_hits("accuracy")),
               categorical = std::make_shared<const LossImpl>(categorical_hits("accuracy"));
  return mean_of_values({.name = "accuracy",
                         .choose =
                             [=](const Tensor& target, const Tensor& prediction) {
                               const auto has_columns = [](const Tensor& x) {
                                 return x.rank() > 1 && !x.shape()[-1].is_ragged() && !(x.shape()[-1] == 1);
                               };
                               if (!has_columns(prediction)) return binary;
                               return target.rank() < prediction.rank() || !has_columns(target) ? sparse : categorical;
                             }},
                        "accuracy");
}

Metric binary_accuracy(ThresholdOptions options) {
  const char* const name = "binary_accuracy";
  return mean_of_values(binary_hits(name, require::finite(name, "threshold", options.threshold)), name, options);
}
Metric categorical_accuracy() { return mean_of_values(categorical_hits("categorical_accuracy"), "categorical_accuracy"); }
Metric sparse_categorical_accuracy() { return mean_of_values(sparse_hits("sparse_categorical_accuracy"), "sparse_categorical_accuracy"); }

Metric top_k_categorical_accuracy(TopKOptions options) {
  const char* const name = "top_k_categorical_accuracy";
  return mean_of_values(
      {.name = name,
       .other_form = "sparse_top_k_categorical_accuracy",
       .values = [k = required_k(name, options)](
                     const Tensor& target, const Tensor& prediction) { return top_k_hits(argmax(target, {.axis = -1}), prediction, k); }},
      name, options);
}
Metric sparse_top_k_categorical_accuracy(TopKOptions options) {
  const char* const name = "sparse_top_k_categorical_accuracy";
  return mean_of_values({.name = name,
                         .other_form = "top_k_categorical_accuracy",
                         .target = TargetKind::Classes,
                         .values = [k = required_k(name, options)](const Tensor& labels,
                                                                   const Tensor& prediction) { return top_k_hits(labels, prediction, k); }},
                        name, options);
}

}  // namespace anyshape
