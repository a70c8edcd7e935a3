// What generality costs: every program compiled for any size against the same program with its sizes as constants, in one process, samples
// taken in turns: the median of the rounds' ratios, as JSON lines for bench/compare.
#include "measure.h"

namespace as = anyshape;
using as::Tensor;

namespace {

using Work = std::function<void()>;

struct Case {
  const char* name;
  std::function<Work(as::Shapes)> made;  // the program, compiled this way
};

Work elementwise(as::Shapes shapes) {
  const auto chain = as::function([](Tensor x) { return as::gelu(x * 1.7f - 0.3f, {.approximate = true}) * as::sigmoid(x) + x; },
                                  {.name = "chain", .shapes = shapes});
  return [chain, x = as::random::normal({1000, 1001})] { chain(x); };
}

Work small_elementwise(as::Shapes shapes) {
  const auto chain = as::function([](Tensor x, Tensor bias) { return as::tanh(x + bias) * x; }, {.name = "small", .shapes = shapes});
  return [chain, x = as::random::normal({30, 37}), bias = as::random::normal({37})] {
    for (int i = 0; i < 200; ++i) chain(x, bias);
  };
}

Work softmax(as::Shapes shapes) {
  const auto rows = as::function([](Tensor x) { return as::softmax(x); }, {.name = "softmax", .shapes = shapes});
  return [rows, x = as::random::normal({1024, 1000})] { rows(x); };
}

// One step of plain gradient descent: the loss of `network` on x, all weights moved.
Work step(const as::AnyLayer& network, const as::Loss& loss, const Tensor& x, const Tensor& y, as::Shapes shapes) {
  const auto train = as::function(
      [network, loss](Tensor batch, Tensor target) {
        const std::vector<as::Variable> weights = network.trainable_variables();
        const auto [value, gradients] = as::value_and_gradients([&] { return loss(target, network(batch)); }, weights);
        for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(gradients[i] * 1e-3f);
        return value;
      },
      {.name = "train", .shapes = shapes});
  return [train, x, y] { train(x, y).item<float>(); };
}

Work mlp_step(as::Shapes shapes) {
  const as::Sequential network(as::Dense(512, {.activation = "relu"}), as::Dense(512, {.activation = "relu"}), as::Dense(10));
  network.build({as::dim("batch"), 784});
  return step(network, as::sparse_categorical_crossentropy({.from_logits = true}), as::random::normal({64, 784}),
              as::random::integers({64}, {.high = 10, .dtype = as::i32}), shapes);
}

Work lstm_step(as::Shapes shapes) {
  const as::Sequential network(as::LSTM(128), as::Dense(1));
  network.build({as::dim("batch"), as::dim("time"), 64});
  return step(network, as::binary_crossentropy({.from_logits = true}), as::random::normal({32, 50, 64}),
              as::random::bernoulli({32, 1}, {.dtype = as::f32}), shapes);
}

double ratio_of(const Case& each) {
  constexpr int warm = 3, rounds = 101;
  const Work generic = each.made(as::Shapes::Symbolic), exact = each.made(as::Shapes::Exact);
  std::vector<double> ratios;
  for (int round = 0; round < warm + rounds; ++round) {
    double time = 0, other = 0;
    for (const bool is_generic : {round % 2 == 0, round % 2 != 0})
      (is_generic ? time : other) = bench::milliseconds(is_generic ? generic : exact);
    if (round >= warm) ratios.push_back(time / other);
  }
  return bench::median(ratios);
}

}  // namespace

int main() {
  const std::vector<Case> cases = {
      {"elementwise", elementwise}, {"small_elementwise", small_elementwise}, {"softmax", softmax}, {"products", mlp_step},
      {"scan", lstm_step},
  };
  as::random::set_seed(1);
  bench::calibrate();
  for (const Case& each : cases) bench::emit(each.name, ratio_of(each));
  return 0;
}
