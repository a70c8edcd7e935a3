// What a shape costs that was never seen: in every round 100 calls with shapes that are new to the process against the same 100 calls again,
// in one process, interleaved. Prints the median of the rounds' ratios with its quartiles; the aim is at most 1.10.
#include <anyshape/anyshape.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace as = anyshape;

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
double microseconds(const F& function, const std::vector<as::Tensor>& arguments) {
  const Clock::time_point start = Clock::now();
  for (const as::Tensor& each : arguments) function(each);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

int main() {
  auto network = as::function(
      [](as::Tensor x) {
        const as::Tensor hidden = as::tanh(x * 0.5f + 1.0f);
        return as::sum(hidden * hidden, {.axes = {1}}) / as::cast(as::size(x, 1), as::f32);
      },
      {.name = "network"});
  network(as::ones({300, 300}));  // traced, compiled, and its largest buffers are there

  constexpr int rounds = 41, shapes = 100;
  std::vector<double> ratios;
  double unseen_total = 0, seen_total = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<as::Tensor> arguments;
    for (int i = 0; i < shapes; ++i) {
      const int number = round * shapes + i;  // every pair of sizes once
      arguments.push_back(as::ones({100 + number % 64, 100 + number / 64}));
    }
    const double unseen = microseconds(network, arguments), seen = microseconds(network, arguments);
    ratios.push_back(unseen / seen);
    unseen_total += unseen;
    seen_total += seen;
  }
  std::ranges::sort(ratios);
  const auto stats = network.stats();
  std::printf("unseen %.2f us a call, seen %.2f us; ratio %.3f (quartiles %.3f, %.3f); %lld trace, %lld calls\n",
              unseen_total / (rounds * shapes), seen_total / (rounds * shapes), ratios[rounds / 2], ratios[rounds / 4],
              ratios[3 * rounds / 4], static_cast<long long>(stats.traces), static_cast<long long>(stats.calls));
  return stats.traces == 1 ? 0 : 1;
}
