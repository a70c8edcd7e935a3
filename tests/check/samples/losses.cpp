// Samples of losses on numbers, one value per row: compositions of ops whose kinks must add up to slopes of their own.
#include "check/op_samples.h"

#include <anyshape/loss.h>
#include <anyshape/ops.h>

#include <algorithm>
#include <cmath>

namespace anyshape::check {
namespace {

using Element = double (*)(double y, double p);

double of_logits(double y, double x) { return std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x))); }
double focal(double y, double x) {
  const double p = 1 / (1 + std::exp(-x)), wrong = y * (1 - p) + (1 - y) * p;
  return wrong * wrong * of_logits(y, x);
}
double of_huber(double y, double p) {
  const double error = std::abs(p - y);
  return error <= 1 ? 0.5 * error * error : error - 0.5;
}
double of_hinge(double y, double p) { return std::max(1 - (y == 0 ? -1 : y) * p, 0.0); }

// Targets are 0 and 1, predictions anything, with zeros and equal ones among them.
OpSample loss_sample(const std::string& name, const Loss& loss, Element element, const std::vector<double>& kinks) {
  OpSample sample;
  sample.name = name;
  sample.call = [loss](Tensors in, int) { return std::vector<Tensor>{loss(cast(in[0] > 0, in[1].dtype()), in[1])}; };
  sample.cases = 2;
  sample.inputs = [kinks](Random& random, Dtype dtype, int number) {
    const Sizes sizes = random.sizes(2 + number);
    const Domain numbers{.infinities = false, .nan = false, .extremes = false, .kinks = kinks};
    return std::vector<InputPlan>{{sizes, dtype, ordinary_numbers}, {sizes, dtype, numbers}};
  };
  sample.reference = [element](Flats in, int) {
    const Sizes rows(in[1].sizes.begin(), in[1].sizes.end() - 1);
    const int64_t length = in[1].sizes.back();
    return std::vector<Flat>{flat_from(in[1].dtype, rows, [&](const Sizes& row) {
      double total = 0;
      for (int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<size_t>(ravel(row, rows) * length + i);
        total += element(in[0].values[at] > 0 ? 1 : 0, in[1].values[at]);
      }
      return total / static_cast<double>(length);  // of nothing NaN, as any mean
    })};
  };
  sample.f32 = {1e-5, 1e-6};
  sample.differentiable = {1};
  sample.halves = false;
  sample.wrong = {
      wrong<ArgumentError>([loss] { return loss(Tensor(), ones({2, 2})); }, {"empty tensor handle"}),
      wrong<ArgumentError>([loss] { return loss(ones({2, 2}), Tensor()); }, {"empty tensor handle"}),
      wrong<ShapeError>([loss] { return loss(ones({2, 3}), ones({2, 2})); }, {"f32[2, 2]"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> loss_samples() {
  constexpr auto none = Reduction::None;
  return {loss_sample("binary_crossentropy", binary_crossentropy({.from_logits = true, .reduction = none}), of_logits, {}),
          loss_sample("binary_focal_crossentropy", binary_focal_crossentropy({.from_logits = true, .reduction = none}), focal, {}),
          loss_sample("huber", huber({.reduction = none}), of_huber, {0, 1, -1, 2}),
          loss_sample("hinge", hinge({.reduction = none}), of_hinge, {1, -1})};
}

}  // namespace anyshape::check
