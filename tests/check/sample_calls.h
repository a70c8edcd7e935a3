// Calling samples: what to call them with, and what their results are compared by.
#pragma once
#include "check/op_samples.h"

namespace anyshape::check {

std::string describe(Dtype dtype, int number, Tensors inputs);
std::vector<Tensor> draw_inputs(const OpSample& sample, Random& random, Dtype dtype, int number, bool views);
// Inputs for derivatives: f64, few elements, nowhere near a kink.
std::vector<Tensor> draw_smooth_inputs(const OpSample& sample, Random& random, int number);
std::vector<Tensor> differentiable_inputs(const OpSample& sample, const std::vector<Tensor>& inputs);

std::function<std::vector<Tensor>(Tensors)> call_of(const OpSample& sample, int number);
// Random ops give the same numbers after the same seed.
std::vector<Tensor> run(const std::function<std::vector<Tensor>(Tensors)>& call, const std::vector<Tensor>& inputs);
// All floating outputs in one number per call, as a function of the differentiable inputs alone.
Tensor weighted_outputs(const OpSample& sample, int number, const std::vector<Tensor>& all, const std::vector<Tensor>& given);
std::vector<Tensor> gradients_of(const OpSample& sample, int number, Tensors inputs);  // of that number

// In every bit, where the sample says so.
void expect_same(const OpSample& sample, const std::vector<Tensor>& got, const std::vector<Tensor>& expected, const std::string& which);

}  // namespace anyshape::check
