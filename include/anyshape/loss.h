// Losses: how far a prediction is from its target. Numbers as in Keras; one value per row (or position), then a reduction.
#pragma once
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

enum class Reduction {
  SumOverBatchSize,  // sum(values * weights) / number of values; Keras's default
  Sum,
  Mean,                  // the same as SumOverBatchSize
  MeanWithSampleWeight,  // sum(values * weights) / sum(weights)
  None,
};

struct LossImpl;

// Target and prediction have equal shapes (class numbers: without the axis of classes), or equal rows where they are ragged; [rows] stands for
// [rows, 1]. Positions that a mask hides count neither in the sum nor in the number of values.
class Loss {
 public:
  Loss() = default;
  Loss(const char* name);  // "mse", "binary_crossentropy", ...; ArgumentError with the near names for an unknown one
  Loss(const std::string& name);
  // Any callable on (target, prediction) that gives one value per row (or position), or a scalar. It takes both as they are.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&, const Tensor&> &&
             (!std::convertible_to<Callable, std::string>) && (!std::derived_from<Callable, Loss>)
  Loss(Callable callable) : Loss(std::function<Tensor(const Tensor&, const Tensor&)>(std::move(callable))) {}
  Loss(std::function<Tensor(const Tensor&, const Tensor&)> callable);
  explicit Loss(std::shared_ptr<const LossImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  Tensor operator()(const Tensor& target, const Tensor& prediction) const;
  Tensor operator()(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const;
  const std::string& name() const;
  const std::shared_ptr<const LossImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const LossImpl> impl_;
};

struct LossOptions {
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;  // NaN in the target: counts neither in the sum nor in the number of values
};
Loss mean_squared_error(LossOptions options = {});
Loss mean_absolute_error(LossOptions options = {});
Loss mean_absolute_percentage_error(LossOptions options = {});
Loss mean_squared_logarithmic_error(LossOptions options = {});
Loss hinge(LossOptions options = {});
Loss squared_hinge(LossOptions options = {});
Loss kl_divergence(LossOptions options = {});
Loss poisson(LossOptions options = {});
Loss log_cosh(LossOptions options = {});
inline Loss mse(LossOptions options = {}) { return mean_squared_error(options); }
inline Loss mae(LossOptions options = {}) { return mean_absolute_error(options); }

struct HuberOptions {
  double delta = 1;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss huber(HuberOptions options = {});

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss cosine_similarity(CosineSimilarityOptions options = {});  // -1 is best

struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;  // of the classes
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss binary_crossentropy(CrossentropyOptions options = {});
Loss categorical_crossentropy(CrossentropyOptions options = {});  // targets are probabilities per class

struct SparseCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int axis = -1;
  Reduction reduction = Reduction::SumOverBatchSize;
};
Loss sparse_categorical_crossentropy(SparseCrossentropyOptions options = {});  // targets are class numbers

struct FocalOptions {
  double gamma = 2;
  bool apply_class_balancing = false;
  double alpha = 0.25;
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss binary_focal_crossentropy(FocalOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
