// Losses: how far a prediction is from its target. Numbers as in Keras; one value per row (or position), then a reduction.
#pragma once
#include <anyshape/config.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

/// How the values of a loss become one number; with None they stay values, times their weights.
enum class Reduction {
  SumOverBatchSize,  ///< sum(values * weights) / number of values; Keras's default
  Sum,
  Mean,                  ///< the same as SumOverBatchSize
  MeanWithSampleWeight,  ///< sum(values * weights) / sum(weights)
  None,
};

namespace detail {
struct LossImpl;
}

/// Target and prediction have equal shapes (class numbers: without the axis of classes), or equal rows where they are ragged; [rows] stands for
/// [rows, 1]. Positions that a mask hides count neither in the sum nor in the number of values.
class Loss : public Stateful, public detail::ShownByConfig<Loss> {
 public:
  Loss();
  Loss(const char* name);  ///< "mse", "binary_crossentropy", ...; ArgumentError with the near names for an unknown one
  Loss(const std::string& name);
  /// Any callable on (target, prediction) that gives one value per row (or position), or a scalar. It takes both as they are.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&, const Tensor&> &&
             (!std::convertible_to<Callable, std::string>) && (!std::derived_from<Callable, Loss>)
  Loss(Callable callable) : Loss(std::function<Tensor(const Tensor&, const Tensor&)>(std::move(callable))) {}
  Loss(std::function<Tensor(const Tensor&, const Tensor&)> callable);
  explicit Loss(std::shared_ptr<const detail::LossImpl> impl);

  bool defined() const { return impl_ != nullptr; }  ///< false: a handle without a loss
  /// The loss after its reduction: a scalar; with Reduction::None a value per row or position. Weights are [rows], or one per position.
  ///@{
  Tensor operator()(const Tensor& target, const Tensor& prediction) const;
  Tensor operator()(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const;
  ///@}
  const std::string& name() const;  ///< "mean_squared_error", ...; "loss" of a callable; empty of an empty handle
  Config config() const;            ///< its name and options; a plain callable says that it is one, an empty handle is nothing
  const std::shared_ptr<const detail::LossImpl>& impl() const { return impl_; }  ///< for the library

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  std::shared_ptr<const detail::LossImpl> impl_;
};
/// The registry of losses.
template <>
Registry& registry_of<Loss>();

/// What losses on numbers take.
struct LossOptions {
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;  ///< NaN in the target: counts neither in the sum nor in the number of values
};
/// Of a target y and a prediction p, over the last axis:
Loss mean_squared_error(LossOptions options = {});              ///< mean((p - y)^2)
Loss mean_absolute_error(LossOptions options = {});             ///< mean(|p - y|)
Loss mean_absolute_percentage_error(LossOptions options = {});  ///< 100 * mean(|p - y| / max(|y|, 1e-7))
Loss mean_squared_logarithmic_error(LossOptions options = {});  ///< mean((log(1 + p) - log(1 + y))^2), both at least 1e-7
Loss hinge(LossOptions options = {});                           ///< mean(max(1 - y * p, 0)); a label 0 is taken for -1
Loss squared_hinge(LossOptions options = {});                   ///< mean(max(1 - y * p, 0)^2); a label 0 is taken for -1
Loss kl_divergence(LossOptions options = {});                   ///< sum(y * log(y / p)), both clipped to 1e-7 ... 1
Loss poisson(LossOptions options = {});                         ///< mean(p - y * log(p + 1e-7))
Loss log_cosh(LossOptions options = {});                        ///< mean(log(cosh(p - y)))
inline Loss mse(LossOptions options = {}) { return mean_squared_error(options); }               ///< for short
inline Loss mae(LossOptions options = {}) { return mean_absolute_error(options); }              ///< for short
inline Loss mape(LossOptions options = {}) { return mean_absolute_percentage_error(options); }  ///< for short
inline Loss msle(LossOptions options = {}) { return mean_squared_logarithmic_error(options); }  ///< for short

/// An error above delta, which is greater than 0, counts linearly.
struct HuberOptions {
  double delta = 1;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss huber(HuberOptions options = {});  ///< mean of e^2 / 2 where |e| <= delta, else delta * |e| - delta^2 / 2; e is p - y

/// The axis is that along which a vector lies.
struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss cosine_similarity(CosineSimilarityOptions options = {});  ///< -1 is best

/// Predictions are probabilities, or logits with from_logits. label_smoothing, from 0 to 1, is the share of a target that is spread over the classes.
struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;  ///< of the classes
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss binary_crossentropy(CrossentropyOptions options = {});       ///< targets are 0 and 1, each by itself; mean over the axis
Loss categorical_crossentropy(CrossentropyOptions options = {});  ///< targets are probabilities per class

/// Labels of ignore_class count neither in the sum nor in the number of values. Predictions are probabilities, or logits with from_logits.
struct SparseCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int axis = -1;
  Reduction reduction = Reduction::SumOverBatchSize;
};
Loss sparse_categorical_crossentropy(SparseCrossentropyOptions options = {});  ///< targets are class numbers

/// A greater gamma makes elements that are right count less; with apply_class_balancing label 1 counts alpha and label 0 counts 1 - alpha.
struct FocalOptions {
  double gamma = 2;
  bool apply_class_balancing = false;
  double alpha = 0.25;
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::SumOverBatchSize;
  bool ignore_missing = false;
};
Loss binary_focal_crossentropy(FocalOptions options = {});  ///< mean((1 - q)^gamma * binary crossentropy), q: the probability of the label

}  // namespace anyshape
#pragma GCC visibility pop
