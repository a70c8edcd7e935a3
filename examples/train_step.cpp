// A training step written by hand: two dense layers, softmax cross-entropy and SGD, all in one function(). It runs on batches of any size
// through one trace and one piece of machine code; the ledger at the end says so.
#include <anyshape/anyshape.h>

#include <cstdio>
#include <iostream>

namespace as = anyshape;
using as::Tensor;

namespace {

// A task that can be learned: points around ten centres, named by the nearest.
struct Points {
  Tensor centres = as::random::normal({10, 784});

  std::pair<Tensor, Tensor> batch(int64_t rows, int64_t seed) const {
    std::vector<int32_t> labels;
    for (int64_t row = 0; row < rows; ++row) labels.push_back(static_cast<int32_t>((row * 7 + seed * 3) % 10));
    const Tensor label = as::tensor(labels);
    return {as::take(centres, label) + as::random::normal({rows, 784}), label};
  }
};

}  // namespace

int main() {
  as::random::set_seed(1);
  const Points points;
  as::Variable kernel1(as::random::normal({784, 128}) * 0.05f, {.name = "kernel1"}), bias1(as::zeros({128}), {.name = "bias1"});
  as::Variable kernel2(as::random::normal({128, 10}) * 0.1f, {.name = "kernel2"}), bias2(as::zeros({10}), {.name = "bias2"});
  const std::vector<as::Variable> variables = {kernel1, bias1, kernel2, bias2};

  auto step = as::function(
      [&](Tensor x, Tensor label) {
        as::GradientTape tape;
        const Tensor hidden = as::relu(as::matmul(x, kernel1) + bias1);
        const Tensor scores = as::log_softmax(as::matmul(hidden, kernel2) + bias2);
        const Tensor is_label = as::reshape(label, {label.shape()[0], 1}) == as::arange(10);
        const Tensor loss = -as::mean(as::sum(as::where(is_label, scores, 0.0f), {.axis = -1}));
        const std::vector<Tensor> gradients = tape.gradient(loss, variables);
        for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(gradients[i] * 0.1f);
        return loss;
      },
      {.name = "train_step",
       .signature = {as::spec(as::f32, {as::dim("batch"), 784}, "x"), as::spec(as::i32, {as::dim("batch")}, "label")},
       .retrace = as::Retrace::Forbid});

  std::puts("A training step on batches of changing size:\n");
  std::puts("   step   batch     loss");
  int number = 0;
  for (int round = 0; round < 4; ++round) {
    for (int64_t batch : {64, 7, 1, 200, 33}) {
      const auto [x, label] = points.batch(batch, number);
      std::printf("  %5d   %5lld   %6.4f\n", number, static_cast<long long>(batch), step(x, label).item<double>());
      ++number;
    }
  }
  std::cout << "\nThe ledger:\n" << step.report();
  return step.stats().traces == 1 ? 0 : 1;
}
