// The process ends while detached threads compute: one inside fit, one that compiles, one in products.
// usage: detached_thread MILLISECONDS
#include <anyshape/anyshape.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace as = anyshape;
using as::Tensor;

namespace {

void train() {
  as::Sequential model(as::Dense(64, {.activation = "relu"}), as::Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = as::random::normal({512, 16}), y = as::random::normal({512, 1});
  for (;;) model.fit(x, y, {.batch_size = 32, .epochs = 100, .verbose = as::Verbose::Silent});
}

void compile() {
  for (int64_t i = 0;; ++i) {
    auto fresh = as::function([=](Tensor x) { return as::sum(x * static_cast<float>(i)); }, {.name = "fresh"});
    fresh(as::ones({3}));
  }
}

void multiply() {
  for (int64_t i = 1;; ++i) as::matmul(as::ones({i % 300, 100}), as::ones({100, i % 200}));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (void (*work)() : {train, compile, multiply}) std::thread(work).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(arguments[1])));
  return 0;
}
