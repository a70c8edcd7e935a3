// What a shape costs that was never seen: in every round 100 calls with shapes that are new to the process against the same 100 calls again,
// in one process, interleaved: the median of the rounds' ratios, as JSON lines for bench/compare.
#include "measure.h"

namespace as = anyshape;

namespace {

template <class F>
double milliseconds(const F& function, const std::vector<as::Tensor>& arguments) {
  return bench::milliseconds([&] {
    for (const as::Tensor& each : arguments) function(each);
  });
}

}  // namespace

int main() {
  bench::calibrate();
  auto network = as::function(
      [](as::Tensor x) {
        const as::Tensor hidden = as::tanh(x * 0.5f + 1.0f);
        return as::sum(hidden * hidden, {.axes = {1}}) / as::cast(as::size(x, 1), as::f32);
      },
      {.name = "network"});
  network(as::ones({300, 300}));  // traced, compiled, and its largest buffers are there

  constexpr int rounds = 41, shapes = 100;
  std::vector<double> ratios, times;
  for (int round = 0; round < rounds; ++round) {
    std::vector<as::Tensor> arguments;
    for (int i = 0; i < shapes; ++i) {
      const int number = round * shapes + i;  // every pair of sizes once
      arguments.push_back(as::ones({100 + number % 64, 100 + number / 64}));
    }
    const double unseen = milliseconds(network, arguments), seen = milliseconds(network, arguments);
    ratios.push_back(unseen / seen);
    times.push_back(seen / shapes * 1e3);
  }
  bench::emit("unseen_over_seen", bench::median(ratios));
  bench::emit("seen_us", bench::median(times));
  bench::emit("traces", static_cast<double>(network.stats().traces));
  return network.stats().traces == 1 ? 0 : 1;
}
