// Metrics: what is reported beside the loss, streaming over batches and aware of masks: those of Keras, with its numbers, and the user's own.
#pragma once
#include <anyshape/config.h>
#include <anyshape/loss.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
struct MetricState;  ///< name and sums
}

/// What the values of a target are.
enum class TargetForm {
  Elements,      ///< one per element of the prediction, each by itself
  Columns,       ///< one per element of the prediction, and those along the last axis belong together: one-hot classes
  ClassNumbers,  ///< one per row or position, whose classes the prediction has along its last axis
};

/// A batch in which every value of the target counts by its weight. Rows of unequal length stand one after the other.
struct WeighedBatch {
  Tensor target;      ///< of the prediction's shape and dtype; class numbers: i32, without the axis of classes
  Tensor prediction;  ///< as it was given
  Tensor weight;      ///< f32, of the target's shape: 1 times the sample's weight, 0 where a mask hides the value
};

/// The base of metrics, the user's own and ours: sums, how a batch is added to them, and what they make together.
///   class MeanError : public as::StreamingMetric {
///    public:
///     MeanError() : StreamingMetric("mean_error") {}
///     void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
///       const auto [y, p, weight] = weighed(target, prediction, sample_weight);
///       add(total_, as::sum((p - y) * weight));
///       add(count_, as::sum(weight));
///     }
///     Tensor result() const override { return ratio(total_, count_); }
///
///    private:
///     as::Variable total_ = running_sum("total"), count_ = running_sum("count");
///   };
/// It is copied for every model and for evaluations at the same time: a copy made so has running sums of its own and shares all other members.
class StreamingMetric {
 public:
  explicit StreamingMetric(std::string name);
  virtual ~StreamingMetric();
  StreamingMetric(const StreamingMetric& other);  ///< the same sums; those of its own while it is cloned
  StreamingMetric(StreamingMetric&&) noexcept = default;
  StreamingMetric& operator=(const StreamingMetric&) = delete;
  StreamingMetric& operator=(StreamingMetric&&) = delete;

  /// Adds a batch, as it is: target and prediction may be ragged, the prediction may have a mask, and without weights the third is undefined.
  virtual void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) = 0;
  virtual Tensor result() const = 0;  ///< of what was added so far, also before the first batch; one number where fit reports it
  virtual void reset();               ///< sums to 0, unless it says otherwise
  const std::string& name() const;    ///< what fit reports it as

  detail::MetricState& state() const { return *state_; }  ///< for the library

 protected:
  /// A sum that begins at 0, f64 so that counts stay exact. Made in the constructor, or with the first batch where that tells the sizes.
  Variable running_sum(const std::string& name, const Shape& shape = {});
  static void add(const Variable& sum, const Tensor& batch);     ///< adds to a running sum, in its dtype
  static Tensor ratio(const Tensor& part, const Tensor& whole);  ///< 0 where the whole is
  /// The batch with mask, ragged rows and weights made one. ShapeError where target and prediction do not fit.
  WeighedBatch weighed(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight,
                       TargetForm form = TargetForm::Elements) const;

 private:
  std::shared_ptr<detail::MetricState> state_;
};

/// A handle on running sums: update() adds a batch, result() is the value so far. Works eagerly and inside a traced step. Copies share them.
class Metric : public Stateful, public detail::ShownByConfig<Metric> {
 public:
  Metric();
  Metric(const char* name);  ///< "accuracy", "mae", ...; ArgumentError with the near names for an unknown one
  Metric(const std::string& name);
  Metric(const Loss& loss);  ///< the mean of its values
  /// The mean of what a callable on (target, prediction) gives; reported as "metric".
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&, const Tensor&> &&
             (!std::convertible_to<Callable, std::string>) && (!std::derived_from<Callable, Loss>) &&
             (!std::derived_from<Callable, Metric>) && (!std::derived_from<Callable, StreamingMetric>)
  Metric(Callable callable) : Metric(Loss(std::move(callable))) {}
  /// Your own metric: see StreamingMetric.
  template <class Own>
    requires std::derived_from<Own, StreamingMetric>
  Metric(Own own) : Metric(std::make_shared<Own>(std::move(own)), &copy_of<Own>) {
    static_assert(std::is_copy_constructible_v<Own>,
                  "anyshape::Metric: a metric is copied for every model and evaluation; expected a class with a copy constructor");
  }

  bool defined() const { return metric_ != nullptr; }           ///< false: a handle without a metric
  void update(const Tensor& target, const Tensor& prediction);  ///< adds a batch
  /// Adds a batch with weights, [rows] or one per position.
  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight);
  Tensor result() const;                    ///< f32
  void reset();                             ///< forgets the batches so far
  Metric clone() const;                     ///< with sums of its own
  const std::string& name() const;          ///< what fit reports it as
  std::vector<Variable> variables() const;  ///< the running sums
  Config config() const;                    ///< its name and options; a plain callable says that it is one, an empty handle is nothing
  const std::shared_ptr<StreamingMetric>& metric() const { return metric_; }  ///< the metric itself; none of an empty handle

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  using Copy = std::shared_ptr<StreamingMetric> (*)(const StreamingMetric&);
  Metric(std::shared_ptr<StreamingMetric> metric, Copy copy);
  template <class Own>
  static std::shared_ptr<StreamingMetric> copy_of(const StreamingMetric& other) {
    return std::make_shared<Own>(static_cast<const Own&>(other));
  }

  std::shared_ptr<StreamingMetric> metric_;
  Copy copy_ = nullptr;
};
/// The registry of metrics; it takes the names of losses, too.
template <>
Registry& registry_of<Metric>();

Metric accuracy();  ///< binary, categorical or sparse by the shapes of target and prediction, as Keras chooses
/// A prediction above the threshold stands for 1.
struct ThresholdOptions {
  double threshold = 0.5;
};
Metric binary_accuracy(ThresholdOptions options = {});  ///< the share of elements that are right; targets are 0 and 1
Metric categorical_accuracy();  ///< the share of rows where target and prediction are greatest in the same class; targets are one-hot
Metric sparse_categorical_accuracy();  ///< the same with class numbers as targets
/// How many classes count as chosen, at least 1.
struct TopKOptions {
  int64_t k = 5;
};
/// The share of rows whose class is among the k greatest predictions, equal ones included; targets are one-hot, or class numbers (sparse).
///@{
Metric top_k_categorical_accuracy(TopKOptions options = {});
Metric sparse_top_k_categorical_accuracy(TopKOptions options = {});
///@}
/// Thresholds are from 0 to 1; a prediction above one is positive.
struct ThresholdsOptions {
  std::vector<double> thresholds = {};  ///< none: 0.5; several: one result each
};
Metric precision(ThresholdsOptions options = {});  ///< the share of positive predictions that are right; 0 without any
Metric recall(ThresholdsOptions options = {});     ///< the share of positive targets that are found; 0 without any
/// One result per class; all classes as one; their mean; by how often they occur.
enum class Average { None, Micro, Macro, Weighted };
/// How the results of classes become one, and which predictions count as chosen.
struct F1Options {
  Average average = Average::Macro;
  std::optional<double> threshold = {};  ///< none: the class with the greatest score is chosen
};
Metric f1_score(F1Options options = {});  ///< targets are one-hot, or 0 and 1 per class
/// Of true against false positives; of precision against recall.
enum class Curve { Roc, PrecisionRecall };
/// Thresholds are evenly spaced from 0 to 1; there are at least 2.
struct AucOptions {
  int64_t thresholds = 200;
  Curve curve = Curve::Roc;
};
Metric auc(AucOptions options = {});  ///< the area under the curve; predictions are from 0 to 1
Metric root_mean_squared_error();     ///< the root is taken of the mean over all batches
/// The weighted mean of what a callable gives for a batch.
Metric mean_metric(std::function<Tensor(const Tensor& target, const Tensor& prediction)> callable, std::string name = "mean");

}  // namespace anyshape
#pragma GCC visibility pop
