// Metrics: what is reported beside the loss, streaming over batches and aware of masks. Numbers as in Keras.
#pragma once
#include <anyshape/loss.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class MetricImpl;

// A handle on running sums: update() adds a batch, result() is the value so far. Works eagerly and inside a traced step.
class Metric {
 public:
  Metric() = default;
  Metric(const char* name);  // "accuracy", "mae", ...; ArgumentError with the near names for an unknown one
  Metric(const std::string& name);
  Metric(const Loss& loss);  // the mean of its values
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&, const Tensor&> &&
             (!std::convertible_to<Callable, std::string>) && (!std::derived_from<Callable, Loss>) && (!std::derived_from<Callable, Metric>)
  Metric(Callable callable) : Metric(Loss(std::move(callable))) {}
  explicit Metric(std::shared_ptr<MetricImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  void update(const Tensor& target, const Tensor& prediction) const;
  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const;
  Tensor result() const;
  void reset() const;
  Metric clone() const;  // with sums of its own
  const std::string& name() const;
  std::vector<Variable> variables() const;
  const std::shared_ptr<MetricImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<MetricImpl> impl_;
};

Metric accuracy();  // binary, categorical or sparse by the shapes of target and prediction, as Keras chooses
struct ThresholdOptions {
  double threshold = 0.5;
};
Metric binary_accuracy(ThresholdOptions options = {});
Metric categorical_accuracy();
Metric sparse_categorical_accuracy();
struct TopKOptions {
  int64_t k = 5;
};
Metric top_k_categorical_accuracy(TopKOptions options = {});
Metric sparse_top_k_categorical_accuracy(TopKOptions options = {});
struct ThresholdsOptions {
  std::vector<double> thresholds = {};  // none: 0.5; several: one result each
};
Metric precision(ThresholdsOptions options = {});
Metric recall(ThresholdsOptions options = {});
enum class Average { None, Micro, Macro, Weighted };  // one result per class; all classes as one; their mean; by how often they occur
struct F1Options {
  Average average = Average::Macro;
  std::optional<double> threshold = {};  // none: the class with the greatest score is chosen
};
Metric f1_score(F1Options options = {});  // targets are one-hot, or 0 and 1 per class
enum class Curve { Roc, PrecisionRecall };
struct AucOptions {
  int64_t thresholds = 200;
  Curve curve = Curve::Roc;
};
Metric auc(AucOptions options = {});
Metric root_mean_squared_error();
// The weighted mean of what a callable gives for a batch.
Metric mean_metric(std::function<Tensor(const Tensor& target, const Tensor& prediction)> callable, std::string name = "mean");

}  // namespace anyshape
#pragma GCC visibility pop
