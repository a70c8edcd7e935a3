// What generality costs: every program compiled for any size against the same program with its sizes as constants, in one process, samples
// taken in turns. Prints a table of the median of the rounds' ratios with quartiles, and the limit. `generic_bench [ROUNDS]`.
#include "measure.h"

#include <cstdlib>

namespace as = anyshape;
using as::Tensor;

namespace {

using Work = std::function<void()>;

struct Case {
  const char* name;
  double limit;                          // of the ratio, generic over exact
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

bool is_met(const Case& each, int rounds) {
  const Work generic = each.made(as::Shapes::Symbolic), exact = each.made(as::Shapes::Exact);
  for (int i = 0; i < 3; ++i) generic(), exact();
  std::vector<double> ratios, times;
  for (int round = 0; round < rounds; ++round) {
    const bool is_first = round % 2 == 0;  // who goes first changes
    const double before = is_first ? 0 : bench::milliseconds(exact), time = bench::milliseconds(generic);
    const double other = is_first ? bench::milliseconds(exact) : before;
    times.push_back(time);
    ratios.push_back(time / other);
  }
  std::ranges::sort(ratios);
  const auto at = [&](double q) { return ratios[static_cast<size_t>(q * static_cast<double>(ratios.size() - 1))]; };
  const bool met = at(0.5) <= each.limit;
  std::printf("| %s | %.3f | %.3f (%.3f - %.3f) | %.2f | %s |\n", each.name, bench::median(times), at(0.5), at(0.25), at(0.75), each.limit,
              met ? "met" : "not met");
  return met;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 101;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: generic_bench [ROUNDS]\n");
    return 2;
  }
  const std::vector<Case> cases = {
      {"elementwise chain, 1000 x 1001", 1.10, elementwise},
      {"elementwise with a row, 200 calls on 30 x 37", 1.10, small_elementwise},
      {"softmax, 1024 x 1000", 1.10, softmax},
      {"products: mlp step, batch 64", 1.05, mlp_step},
      {"scan: LSTM(128) step, 32 x 50 x 64", 1.05, lstm_step},
  };
  as::random::set_seed(1);
  std::printf("| what | generic, ms | generic / exact: median (quartiles) | limit | |\n|---|---|---|---|---|\n");
  bool all = true;
  for (const Case& each : cases) all = is_met(each, rounds) && all;
  return all ? 0 : 1;
}
