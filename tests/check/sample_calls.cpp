// Drawing inputs, calling, comparing.
#include "check/sample_calls.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::check {

std::string describe(Dtype dtype, int number, Tensors inputs) {
  std::string text = std::string(to_string(dtype)) + ", case " + std::to_string(number);
  for (const Tensor& input : inputs) text += ", " + std::string(to_string(input.dtype())) + to_string(input.shape());
  return text;
}

std::vector<Tensor> draw_inputs(const OpSample& sample, Random& random, Dtype dtype, int number, bool views) {
  std::vector<Tensor> inputs;
  for (const InputPlan& plan : sample.inputs(random, dtype, number)) {
    const View view = views ? all_views[random.below(std::size(all_views))] : View::Whole;
    inputs.push_back(draw_tensor(random, plan.dtype, plan.sizes, plan.domain, view));
  }
  return inputs;
}

std::vector<Tensor> draw_smooth_inputs(const OpSample& sample, Random& random, int number) {
  std::vector<Tensor> inputs;
  const std::vector<InputPlan> plans = sample.inputs(random, Dtype::f64, number);
  for (size_t i = 0; i < plans.size(); ++i) {
    if (std::ranges::find(sample.differentiable, static_cast<int>(i)) == sample.differentiable.end()) {
      inputs.push_back(draw_tensor(random, plans[i].dtype, plans[i].sizes, plans[i].domain));
      continue;
    }
    Flat flat{Dtype::f64, plans[i].sizes, {}};
    for (int64_t k = count_of(flat.sizes); k > 0; --k) flat.values.push_back(draw_smooth(random, plans[i].domain));
    inputs.push_back(to_tensor(flat));
  }
  return inputs;
}

std::vector<Tensor> differentiable_inputs(const OpSample& sample, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> chosen;
  for (const int index : sample.differentiable) chosen.push_back(inputs[static_cast<size_t>(index)]);
  return chosen;
}

std::vector<Tensor> run(const std::function<std::vector<Tensor>(Tensors)>& call, const std::vector<Tensor>& inputs) {
  random::set_seed(11);
  return call(inputs);
}

std::function<std::vector<Tensor>(Tensors)> call_of(const OpSample& sample, int number) {
  return [&sample, number](Tensors in) { return sample.call(in, number); };
}

Tensor weighted_outputs(const OpSample& sample, int number, const std::vector<Tensor>& all, const std::vector<Tensor>& given) {
  std::vector<Tensor> inputs = all;
  for (size_t k = 0; k < given.size(); ++k) inputs[static_cast<size_t>(sample.differentiable[k])] = given[k];
  random::set_seed(11);
  const std::vector<Tensor> outputs = sample.call(inputs, number);
  if (outputs.size() == 1) return outputs[0];
  Tensor total;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_floating(outputs[i].dtype())) continue;
    const Tensor part = sum(outputs[i] * outputs[i]) * (1.0 + 0.25 * static_cast<double>(i));
    total = total.defined() ? total + part : part;
  }
  return total;
}

std::vector<Tensor> gradients_of(const OpSample& sample, int number, Tensors in) {
  const std::vector<Tensor> inputs(in.begin(), in.end()), sources = differentiable_inputs(sample, inputs);
  GradientTape tape;
  for (const Tensor& source : sources) tape.watch(source);
  return tape.gradient(weighted_outputs(sample, number, inputs, sources), sources);
}

void expect_same(const OpSample& sample, const std::vector<Tensor>& got, const std::vector<Tensor>& expected, const std::string& which) {
  ASSERT_EQ(got.size(), expected.size()) << which;
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string found =
        sample.same_bits ? difference_in_bits(got[i], expected[i]) : difference(got[i], to_flat(expected[i]), {1e-5, 1e-4});
    EXPECT_EQ(found, "") << which << ", output " << i;
  }
}

}  // namespace anyshape::check
