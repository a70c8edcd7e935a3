// Gradients at kinks, in f64: the tape's answer for sum(weights * f(inputs)) lies between the slopes on both sides of every element. Where f is
// smooth the two are one, so that parts with kinks of their own must add up to the slope of the whole.
#pragma once
#include "autodiff/finite_differences.h"

namespace anyshape {

// Elements with a slope that is steeper than this, or without a number on one side, are at a step or a pole and left out.
constexpr double steepest = 1e4;

inline void expect_between_one_sided_slopes(const TensorFunction& f, const std::vector<Tensor>& inputs, double tolerance = 1e-4) {
  GradientTape tape;
  for (const Tensor& input : inputs) tape.watch(input);
  const Tensor y = f(inputs);
  const std::vector<Tensor> gradients = tape.gradient(sum(y * sample(y.shape(), 9)), inputs);
  const double step = 1e-7, here = weighted(f, inputs);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<double> values = inputs[k].to_vector<double>(), found = gradients[k].to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto moved_by = [&](double distance) {
        std::vector<Tensor> moved = inputs;
        std::vector<double> shifted = values;
        shifted[i] += distance;
        moved[k] = tensor(shifted, inputs[k].shape());
        return weighted(f, moved);
      };
      const double above = (moved_by(step) - here) / step, below = (here - moved_by(-step)) / step;
      if (!(std::abs(above) < steepest && std::abs(below) < steepest)) continue;
      const double allowed = tolerance * std::max({1.0, std::abs(above), std::abs(below)});
      ASSERT_GE(found[i], std::min(above, below) - allowed) << "input " << k << " element " << i << " at " << values[i];
      ASSERT_LE(found[i], std::max(above, below) + allowed) << "input " << k << " element " << i << " at " << values[i];
    }
  }
}

}  // namespace anyshape
