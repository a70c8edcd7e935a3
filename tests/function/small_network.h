// A network of two dense layers with softmax cross-entropy and SGD, written with ops: what the tests of training steps share.
#pragma once
#include <anyshape/anyshape.h>

#include <cmath>
#include <random>
#include <vector>

namespace anyshape::test {

inline Tensor random_tensor(std::mt19937& host, const std::vector<int64_t>& sizes, Dtype dtype, double scale = 1) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<double> values(static_cast<size_t>(count));
  std::normal_distribution<double> normal(0, scale);
  for (double& value : values) value = normal(host);
  return cast(tensor(values, Shape(std::span<const int64_t>(sizes))), dtype);
}

inline Tensor random_labels(std::mt19937& host, int64_t rows, int classes) {
  std::vector<int32_t> labels(static_cast<size_t>(rows));
  for (int32_t& label : labels) label = static_cast<int32_t>(host() % static_cast<unsigned>(classes));
  return tensor(labels, {rows});
}

struct SmallNetwork {
  static constexpr int inputs = 12, hidden = 40, classes = 5;
  Variable kernel1, bias1, kernel2, bias2;

  explicit SmallNetwork(Dtype dtype = f32, unsigned seed = 1) {
    std::mt19937 host(seed);
    kernel1 = Variable(random_tensor(host, {inputs, hidden}, dtype, 0.3), {.name = "kernel1"});
    bias1 = Variable(random_tensor(host, {hidden}, dtype, 0.1), {.name = "bias1"});
    kernel2 = Variable(random_tensor(host, {hidden, classes}, dtype, 0.3), {.name = "kernel2"});
    bias2 = Variable(random_tensor(host, {classes}, dtype, 0.1), {.name = "bias2"});
  }
  std::vector<Variable> variables() const { return {kernel1, bias1, kernel2, bias2}; }
  std::vector<Tensor> values() const {
    std::vector<Tensor> all;
    for (const Variable& variable : variables()) all.push_back(variable.read());
    return all;
  }

  Tensor loss(const Tensor& x, const Tensor& label) const {
    const Tensor layer = relu(matmul(x, kernel1) + bias1);
    const Tensor scores = log_softmax(matmul(layer, kernel2) + bias2);
    const Tensor is_label = reshape(label, {label.shape()[0], 1}) == arange(classes);
    return -mean(sum(where(is_label, scores, 0.0f), {.axes = {-1}}));
  }
  Tensor step(const Tensor& x, const Tensor& label, float rate = 0.1f) const {
    GradientTape tape;
    const Tensor value = loss(x, label);
    const std::vector<Tensor> gradients = tape.gradient(value, variables());
    const std::vector<Variable> all = variables();
    for (size_t i = 0; i < all.size(); ++i) all[i].assign_sub(gradients[i] * rate);
    return value;
  }
  auto compiled_step() const {
    return function([self = *this](Tensor x, Tensor label) { return self.step(x, label); }, {.name = "train_step"});
  }
};

}  // namespace anyshape::test
