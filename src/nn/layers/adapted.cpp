// Layers whose numbers come from data seen beforehand, by adapt(): Normalization and FillMissing. NaN in that data is a missing value.
#include "base/option_rules.h"
#include "graph/layer_path.h"
#include "graph/outside_trace.h"
#include "nn/describe_call.h"
#include "nn/make_layer.h"
#include "shape/prove.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// The layer's numbers per column, and how many rows they come from, kept as weights that are not trained: they are saved and loaded.
class AdaptedLayer : public Layer {
 public:
  using Layer::Layer;
  bool supports_masking() const override { return true; }

  void build(const Shape& input) override {
    build_columns({input[-1]});
    count_ = weight("count", {}, {.initializer = "zeros", .trainable = false});
  }

  void adapt(const Tensor& data) {
    learn(cast(data.values(), dtype()));
    count_.assign(cast(size(data.values(), 0), dtype()));
  }

 protected:
  virtual void build_columns(const Shape& columns) = 0;
  virtual void learn(const Tensor& data) = 0;

  void require_adapted() const {
    if (nn::is_describing()) return;
    const OutsideTrace outside;  // whether it was adapted is known when it is traced
    if (count_.read().item<double>() > 0) return;
    throw ArgumentError(
        fmt::format("{}: the layer has seen no data; expected adapt(data) before it is used.{}", nn::type_of(*this), current_place()));
  }

 private:
  Variable count_;
};

// Sums over all axes but the last of what is not NaN, and how many that are.
struct Present {
  Tensor values;  // zero where missing
  Tensor count;
  std::vector<int64_t> axes;
  Tensor is_there;
};

Present present(const Tensor& data) {
  Present result;
  for (int axis = 0; axis < data.rank() - 1; ++axis) result.axes.push_back(axis);
  result.is_there = logical_not(is_nan(data));
  result.values = where(result.is_there, data, 0);
  result.count = maximum(sum(cast(result.is_there, data.dtype()), {.axes = result.axes}), 1);
  return result;
}

Tensor column_means(const Present& data) { return sum(data.values, {.axes = data.axes}) / data.count; }

class NormalizationLayer final : public AdaptedLayer {
 public:
  explicit NormalizationLayer(const NormalizationOptions& options) : AdaptedLayer("Normalization") {
    if (options.axis != -1) throw ArgumentError(fmt::format("Normalization: axis is {}; expected -1, the columns.", options.axis));
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    require_adapted();
    return (x - mean_) / maximum(sqrt(variance_.read()), 1e-7);
  }

 private:
  void build_columns(const Shape& columns) override {
    mean_ = weight("mean", columns, {.initializer = "zeros", .trainable = false});
    variance_ = weight("variance", columns, {.initializer = "ones", .trainable = false});
  }

  void learn(const Tensor& data) override {
    const Present there = present(data);
    const Tensor average = column_means(there);
    const Tensor spread = sum(square(where(there.is_there, there.values - average, 0)), {.axes = there.axes}) / there.count;
    mean_.assign(average);
    variance_.assign(spread);
  }

  Variable mean_, variance_;
};

class FillMissingLayer final : public AdaptedLayer {
 public:
  explicit FillMissingLayer(FillMissingOptions options) : AdaptedLayer("FillMissing"), options_(std::move(options)) {
    require::finite("FillMissing", "value", options_.value);
  }

  bool accepts_missing() const override { return true; }

  Tensor call(const Tensor& x, const CallContext&) override {
    if (options_.strategy != Missing::Constant) require_adapted();
    const Tensor missing = is_nan(x);
    const Tensor filled = where(missing, fill_, x);
    return options_.add_indicator ? concat({filled, cast(missing, x.dtype())}, {.axis = -1}) : filled;
  }

 private:
  void build_columns(const Shape& columns) override {
    fill_ = weight("fill", columns, {.initializer = constant(options_.value), .trainable = false});
  }

  void learn(const Tensor& data) override {
    if (options_.strategy == Missing::Constant) return;
    fill_.assign(options_.strategy == Missing::Mean ? column_means(present(data)) : column_medians(data));
  }

  // NaN sorts behind every number: the middle of the first `count` is the median.
  static Tensor column_medians(const Tensor& data) {
    const Tensor rows = reshape(data, {-1, data.shape()[-1]});
    const Tensor count = sum(cast(logical_not(is_nan(rows)), Dtype::i32), {.axes = {0}});
    const Tensor sorted = sort(rows, {.axis = 0});
    auto at = [&](const Tensor& index) { return squeeze(take_along_axis(sorted, expand_dims(maximum(index, 0), 0), {.axis = 0}), {0}); };
    const Tensor median = (at(floor_divide(count - 1, 2)) + at(floor_divide(count, 2))) * 0.5;
    return where(count > 0, median, 0);
  }

  FillMissingOptions options_;
  Variable fill_;
};

void adapt(const AnyLayer& handle, const Tensor& data) {
  if (!data.defined() || data.rank() < 2) {
    throw ShapeError(fmt::format("adapt: the data is {}; expected rows [rows, ..., columns].", describe(data)));
  }
  if (proves_equal(data.values().shape()[0], 0).value_or(false)) throw DataError("adapt: the data has no rows; expected at least one.");
  handle.build(data.shape());
  static_cast<AdaptedLayer&>(*handle.layer()).adapt(data);
}

}  // namespace

Normalization::Normalization(NormalizationOptions options) : AnyLayer(nn::make_layer<NormalizationLayer>(options)) {}
void Normalization::adapt(const Tensor& data) { anyshape::adapt(*this, data); }

FillMissing::FillMissing(FillMissingOptions options) : AnyLayer(nn::make_layer<FillMissingLayer>(options)) {}
void FillMissing::adapt(const Tensor& data) { anyshape::adapt(*this, data); }

}  // namespace anyshape
