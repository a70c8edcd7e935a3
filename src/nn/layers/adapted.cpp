// Layers whose numbers come from data seen beforehand, by adapt(): Normalization and FillMissing. NaN in that data is a missing value.
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// The layer's number per column, kept as weights that are not trained.
class AdaptedLayer : public Layer {
 public:
  using Layer::Layer;
  virtual void adapt(const Tensor& data) = 0;
  bool supports_masking() const override { return true; }

 protected:
  void require_adapted(const char* what) const {
    if (is_adapted_) return;
    throw ArgumentError(fmt::format("{}: the layer \"{}\" has seen no data; expected adapt(data) before it is used.", what, state().name));
  }
  bool is_adapted_ = false;
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

  void build(const Shape& input) override {
    mean_ = weight("mean", {input[-1]}, {.initializer = "zeros", .trainable = false});
    variance_ = weight("variance", {input[-1]}, {.initializer = "ones", .trainable = false});
  }

  void adapt(const Tensor& data) override {
    const Present there = present(cast(data, dtype()));
    const Tensor average = column_means(there);
    mean_.assign(average);
    variance_.assign(sum(square(where(there.is_there, there.values - average, 0)), {.axes = there.axes}) / there.count);
    is_adapted_ = true;
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    require_adapted("Normalization");
    return (x - mean_) / maximum(sqrt(variance_.read()), 1e-7);
  }

 private:
  Variable mean_, variance_;
};

class FillMissingLayer final : public AdaptedLayer {
 public:
  explicit FillMissingLayer(FillMissingOptions options) : AdaptedLayer("FillMissing"), options_(std::move(options)) {
    is_adapted_ = options_.strategy == Missing::Constant;
  }

  bool accepts_missing() const override { return true; }

  void build(const Shape& input) override {
    fill_ = weight("fill", {input[-1]}, {.initializer = constant(options_.value), .trainable = false});
  }

  void adapt(const Tensor& data) override {
    if (options_.strategy == Missing::Constant) return;
    const Tensor table = cast(data, dtype());
    fill_.assign(options_.strategy == Missing::Mean ? column_means(present(table)) : column_medians(table));
    is_adapted_ = true;
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    require_adapted("FillMissing");
    const Tensor missing = is_nan(x);
    const Tensor filled = where(missing, fill_, x);
    return options_.add_indicator ? concat({filled, cast(missing, x.dtype())}, {.axis = -1}) : filled;
  }

 private:
  // NaN sorts behind every number: the middle of the first `count` is the median.
  static Tensor column_medians(const Tensor& data) {
    const Tensor rows = reshape(data, {-1, data.shape()[-1]});
    const Tensor count = sum(cast(logical_not(is_nan(rows)), Dtype::i32), {.axes = {0}});
    const Tensor sorted = sort(rows, {.axis = 0});
    auto at = [&](const Tensor& place) { return squeeze(take_along_axis(sorted, expand_dims(maximum(place, 0), 0), {.axis = 0}), {0}); };
    const Tensor median = (at(floor_divide(count - 1, 2)) + at(floor_divide(count, 2))) * 0.5;
    return where(count > 0, median, 0);
  }

  FillMissingOptions options_;
  Variable fill_;
};

void adapt(const AnyLayer& handle, const Tensor& data) {
  handle.build(data.shape());
  static_cast<AdaptedLayer&>(*handle.layer()).adapt(data);
}

}  // namespace

Normalization::Normalization(NormalizationOptions options) : AnyLayer(nn::make_layer<NormalizationLayer>(options)) {}
void Normalization::adapt(const Tensor& data) const { anyshape::adapt(*this, data); }

FillMissing::FillMissing(FillMissingOptions options) : AnyLayer(nn::make_layer<FillMissingLayer>(options)) {}
void FillMissing::adapt(const Tensor& data) const { anyshape::adapt(*this, data); }

}  // namespace anyshape
