// Our side of bench/compare: `step_bench step` times the hand-written training step, `step_bench call` a small call. Prints JSON lines.
#include "measure.h"

#include <cstring>

namespace as = anyshape;
using as::Tensor;

namespace {

using bench::calibrate;
using bench::emit;
using bench::milliseconds;
using bench::repeated;

void run_step() {
  const as::Variable kernel1(as::random::normal({784, 512}) * 0.05f), bias1(as::zeros({512}));
  const as::Variable kernel2(as::random::normal({512, 10}) * 0.05f), bias2(as::zeros({10}));
  const std::vector<as::Variable> variables = {kernel1, bias1, kernel2, bias2};
  auto step = as::function(
      [&](Tensor x, Tensor label) {
        as::GradientTape tape;
        const Tensor hidden = as::relu(as::matmul(x, kernel1) + bias1);
        const Tensor scores = as::log_softmax(as::matmul(hidden, kernel2) + bias2);
        const Tensor is_label = as::reshape(label, {label.shape()[0], 1}) == as::arange(10);
        const Tensor loss = -as::mean(as::sum(as::where(is_label, scores, 0.0f), {.axes = {-1}}));
        const std::vector<Tensor> gradients = tape.gradient(loss, variables);
        for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(gradients[i] * 0.01f);
        return loss;
      },
      {.name = "step", .retrace = as::Retrace::Forbid});

  auto labels = [](int64_t rows) {
    std::vector<int32_t> values;
    for (int64_t row = 0; row < rows; ++row) values.push_back(static_cast<int32_t>(row * 7 % 10));
    return as::tensor(values, {rows});
  };
  const Tensor x = as::random::normal({64, 784}), label = labels(64);
  float first = 0, last = 0;
  emit("first_step_ms", milliseconds([&] { first = step(x, label).item<float>(); }));
  const std::vector<double> times = repeated(50, 500, [&] { last = step(x, label).item<float>(); });
  emit("steady_ms", times[times.size() / 2]);
  emit("steady_min_ms", times[0]);

  std::vector<double> ratios;  // a size never seen before against the same size again
  for (int64_t rows : {65, 40, 97, 31, 128, 17, 77, 50, 111, 9}) {
    const Tensor batch = as::random::normal({rows, 784}), target = labels(rows);
    const double unseen = milliseconds([&] { step(batch, target).item<float>(); });
    ratios.push_back(unseen / milliseconds([&] { step(batch, target).item<float>(); }));
  }
  std::ranges::sort(ratios);
  emit("unseen_over_seen", ratios[ratios.size() / 2]);
  emit("traces", static_cast<double>(step.stats().traces));
  emit("interpreted_groups", static_cast<double>(step.stats().interpreted_groups));
  if (!(last < first)) std::fprintf(stderr, "step_bench: the loss did not go down: %g, then %g\n", first, last);
}

void run_call() {
  auto total = as::function([](Tensor x) { return as::sum(x * x + 1.0f); }, {.name = "total"});
  const Tensor x = as::random::normal({10, 20});
  emit("first_call_ms", milliseconds([&] { total(x).item<float>(); }));
  // A result is ready when the call returns: waiting for it and not are the same here.
  constexpr int calls = 100;
  const std::vector<double> times = repeated(20, 200, [&] {
    for (int i = 0; i < calls; ++i) total(x).item<float>();
  });
  emit("call_us", times[times.size() / 2] / calls * 1e3);
  emit("call_wait_us", times[times.size() / 2] / calls * 1e3);
  std::vector<Tensor> shapes;
  for (int64_t k = 1; k <= 100; ++k) shapes.push_back(as::random::normal({10, 20 + k}));
  auto all = [&] {
    for (const Tensor& each : shapes) total(each).item<float>();
  };
  emit("new_shapes_100_ms", milliseconds(all));
  emit("again_shapes_100_ms", milliseconds(all));
  emit("traces", static_cast<double>(total.stats().traces));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 || (std::strcmp(arguments[1], "step") != 0 && std::strcmp(arguments[1], "call") != 0)) {
    std::fprintf(stderr, "usage: step_bench step|call\n");
    return 2;
  }
  as::random::set_seed(1);
  calibrate();
  std::strcmp(arguments[1], "step") == 0 ? run_step() : run_call();
  return 0;
}
