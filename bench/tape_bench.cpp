// What a tape outside of a function costs: a training step whose forward pass is a function under an eager tape, and one that runs op by op, against
// the step as one function, in one process, interleaved: the medians of the rounds' ratios, as JSON lines for bench/compare.
#include "measure.h"
#include "workloads.h"

namespace as = anyshape;
using as::Tensor;

namespace {

struct Network {
  as::Sequential model{as::Dense(bench::Mlp::hidden, {.activation = "relu"}), as::Dense(bench::Mlp::hidden, {.activation = "relu"}),
                       as::Dense(bench::Mlp::classes)};

  void update(const std::vector<Tensor>& gradients) {
    const std::vector<as::Variable> weights = model.trainable_variables();
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(gradients[i] * 0.001f);
  }
};

}  // namespace

int main() {
  bench::calibrate();
  Network network;
  network.model(as::ones({1, bench::Mlp::features}));
  const std::vector<as::Variable> weights = network.model.trainable_variables();
  const auto forward = [&](Tensor x, Tensor y) {
    const Tensor logits = network.model(x);
    return as::mean(as::logsumexp(logits, {.axes = {1}}) - as::sum(logits * y, {.axes = {1}}));
  };
  const auto step = [&](const auto& loss, const Tensor& x, const Tensor& y) {
    as::GradientTape tape;
    const Tensor value = loss(x, y);
    network.update(tape.gradient(value, weights));
    return value;
  };
  auto compiled = as::function(forward, {.name = "loss"});
  auto whole = as::function([&](Tensor x, Tensor y) { return step(forward, x, y); }, {.name = "step"});

  for (const int64_t batch : {64, 8}) {
    const Tensor x = as::random::normal({batch, bench::Mlp::features}),
                 y = as::one_hot(as::zeros({batch}, {.dtype = as::i32}), bench::Mlp::classes);
    constexpr int rounds = 41, warm = 3;
    std::vector<double> through_function, by_ops, times;
    for (int round = -warm; round < rounds; ++round) {
      const double one = bench::milliseconds([&] { (void)whole(x, y).item<float>(); });
      const double two = bench::milliseconds([&] { (void)step(compiled, x, y).item<float>(); });
      const double three = bench::milliseconds([&] { (void)step(forward, x, y).item<float>(); });
      if (round < 0) continue;
      through_function.push_back(two / one);
      by_ops.push_back(three / one);
      times.push_back(one * 1e3);
    }
    const std::string size = "_" + std::to_string(batch);
    bench::emit(("function" + size).c_str(), bench::median(through_function));
    bench::emit(("ops" + size).c_str(), bench::median(by_ops));
    bench::emit(("step" + size + "_us").c_str(), bench::median(times));
  }
  return compiled.stats().traces == 1 && compiled.stats().compiles == 2 ? 0 : 1;
}
