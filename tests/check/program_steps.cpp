// What the steps on matrices and those on blocks share: choosing values, and functions of their elements.
#include "check/program_steps.h"

#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape::check {
namespace {

using Unary = Tensor (*)(const Tensor& value);
using Binary = Tensor (*)(const Tensor& left, const Tensor& right);

// Some are there to be simplified (adding 0, casting there and back), some have a derivative that is not continuous.
const std::vector<Unary>& unary_functions() {
  static const std::vector<Unary> functions{
      [](const Tensor& value) { return tanh(value); },
      [](const Tensor& value) { return sigmoid(value); },
      [](const Tensor& value) { return relu(value); },
      [](const Tensor& value) { return gelu(value); },
      [](const Tensor& value) { return abs(value); },
      [](const Tensor& value) { return exp(tanh(value)); },
      [](const Tensor& value) { return -value; },
      [](const Tensor& value) { return value * value; },
      [](const Tensor& value) { return value * 0.5f; },
      [](const Tensor& value) { return value / 4.0f; },
      [](const Tensor& value) { return value + 1.0f; },
      [](const Tensor& value) { return value + 0.0f; },
      [](const Tensor& value) { return value * 1.0f - 0.0f; },
      [](const Tensor& value) { return where(value <= 0, 0, value); },
      [](const Tensor& value) { return where(value <= 0, value * 0.1f, value); },
      [](const Tensor& value) { return cast(cast(value, f64), f32); },
  };
  return functions;
}

// Equal operands are frequent, as one value may be picked twice: no choice is between them alone, or rounding would decide.
const std::vector<Binary>& binary_functions() {
  static const std::vector<Binary> functions{
      [](const Tensor& left, const Tensor& right) { return left + right; },
      [](const Tensor& left, const Tensor& right) { return left - right; },
      [](const Tensor& left, const Tensor& right) { return left + (-right); },
      [](const Tensor& left, const Tensor& right) { return left * right; },
      [](const Tensor& left, const Tensor& right) { return left / (abs(right) + 1.0f); },
      [](const Tensor& left, const Tensor& right) { return maximum(left, right); },
      [](const Tensor& left, const Tensor& right) { return minimum(left, right); },
      [](const Tensor& left, const Tensor& right) { return where(left > right * 0.83f + 0.0137f, left, right * 0.5f); },
  };
  return functions;
}

}  // namespace

Tensor ProgramDraft::pick(const std::vector<Tensor>& values) {
  const auto size = static_cast<int64_t>(values.size());
  const int64_t recent = std::min<int64_t>(size, 4);
  return values[static_cast<size_t>(random.chance(33) ? random.below(size) : size - 1 - random.below(recent))];
}

Tensor ProgramDraft::unary(const Tensor& value) { return random.pick(unary_functions())(value); }

Tensor ProgramDraft::binary(const Tensor& left, const Tensor& right) { return random.pick(binary_functions())(left, right); }

Tensor bounded(const Tensor& value) { return tanh(value * 0.3f); }

}  // namespace anyshape::check
