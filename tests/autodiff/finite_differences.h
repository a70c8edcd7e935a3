// Gradients against finite differences in f64: the tape's answer for sum(weights * f(inputs)) against central differences of the same number.
#pragma once
#include <gtest/gtest.h>

#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <cmath>
#include <functional>

namespace anyshape {

using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// Values between 0.35 and 1.6, all different, so that no two are equal and no logarithm or quotient is near a pole.
inline Tensor sample(const Shape& shape, int seed) {
  std::vector<double> values(shape.count().value());
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.35 + 1.25 * std::fmod(0.618034 * static_cast<double>(i + 1) + 0.271 * seed, 1.0);
  return tensor(values, shape);
}

inline double weighted(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  const Tensor y = f(inputs);
  return sum(y * sample(y.shape(), 9)).item<double>();
}

inline void check_gradients(const TensorFunction& f, const std::vector<Tensor>& inputs, double tolerance = 1e-6) {
  GradientTape tape;
  for (const Tensor& input : inputs) tape.watch(input);
  const Tensor y = f(inputs);
  const std::vector<Tensor> gradients = tape.gradient(sum(y * sample(y.shape(), 9)), inputs);
  const double step = 1e-5;
  for (size_t k = 0; k < inputs.size(); ++k) {
    ASSERT_TRUE(gradients[k].shape() == inputs[k].shape()) << "input " << k << " gradient " << to_string(gradients[k].shape());
    ASSERT_EQ(gradients[k].dtype(), f64);
    const std::vector<double> values = inputs[k].to_vector<double>(), found = gradients[k].to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i) {
      std::vector<Tensor> moved = inputs;
      std::vector<double> shifted = values;
      shifted[i] = values[i] + step;
      moved[k] = tensor(shifted, inputs[k].shape());
      const double above = weighted(f, moved);
      shifted[i] = values[i] - step;
      moved[k] = tensor(shifted, inputs[k].shape());
      const double slope = (above - weighted(f, moved)) / (2 * step);
      ASSERT_NEAR(found[i], slope, tolerance * std::max(1.0, std::abs(slope))) << "input " << k << " element " << i;
    }
  }
}

// The gradient is a function too: its own gradient is checked in the same way.
inline void check_second_order(const TensorFunction& f, const std::vector<Tensor>& inputs, double tolerance = 1e-5) {
  const TensorFunction first = [&](const std::vector<Tensor>& given) {
    GradientTape tape;
    for (const Tensor& input : given) tape.watch(input);
    const Tensor y = f(given);
    const std::vector<Tensor> gradients = tape.gradient(sum(y * y), given);
    Tensor total = sum(gradients[0] * gradients[0]);
    for (size_t k = 1; k < gradients.size(); ++k) total = total + sum(gradients[k] * gradients[k]);
    return total;
  };
  check_gradients(first, inputs, tolerance);
}

}  // namespace anyshape
