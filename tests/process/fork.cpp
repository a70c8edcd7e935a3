// A child of fork() computes: eager ops, compiled functions, products, attention, a training step and a function that is compiled there.
// usage: fork ROUNDS quiet|busy. Busy: other threads of the parent compute, compile, allocate, assign and log while it forks.
#include <anyshape/anyshape.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

constexpr unsigned patience = 600;  // seconds that a child may take before an alarm ends it: it hangs then

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong in process %d: %s\n", static_cast<int>(getpid()), what);
  _exit(1);
}

// What parent and child do alike. It is made before the fork, so the child finds traces, variables, optimizer state and pool as they were.
class Work {
 public:
  Work() {
    model_.compile({.optimizer = "adam", .loss = "mse"});
    model_.fit(x_, y_, {.batch_size = 32, .epochs = 1, .verbose = as::Verbose::Silent});
  }

  void all(int64_t number) {
    const auto value = static_cast<float>(number);
    require(as::all_equal(as::full({100}, value) + 1.0f, as::full({100}, value + 1)), "an eager op");
    require(as::sum(as::ones({300000})).item<float>() == 300000, "an eager reduction on the pool");
    require(scale_(as::ones({200000})).item<float>() == 400000, "a compiled function");
    const Tensor a = as::ones({257, 130}), b = as::full({130, 200}, value);
    require(as::all_equal(as::matmul(a, b), as::full({257, 200}, 130 * value)), "a product");
    const Tensor q = as::ones({2, 70, 2, 16});
    require(as::all_close(as::dot_product_attention(q, q, q), q), "attention");
    model_.fit(x_, y_, {.batch_size = 32, .epochs = 1, .verbose = as::Verbose::Silent});
    require(model_.predict(x_).shape() == as::Shape({64, 1}), "a prediction");
    auto fresh = as::function([&](Tensor x) { return as::sum(x * (value + 0.5f)) + as::sum(as::matmul(x, x)); }, {.name = "fresh"});
    require(as::all_close(fresh(as::ones({2, 2})), as::full({}, 4 * (value + 0.5f) + 8)), "a function compiled in the child");
  }

  // Steps of one thread of the parent while another forks.
  void busily(int thread, const std::atomic<bool>& ends) const {
    for (int round = 0; !ends.load(); ++round) {
      switch (thread % 4) {
        case 0: as::matmul(as::ones({300, 300}), as::ones({300, 300})); break;
        case 1: {
          const auto number = static_cast<float>(round);
          auto fresh = as::function([&](Tensor x) { return as::sum(x * number); }, {.name = "busy", .retrace = as::Retrace::Warn});
          for (int64_t rank = 1; rank <= 3; ++rank) fresh(as::ones(as::Shape(std::vector<as::Dim>(static_cast<size_t>(rank), 2))));
          break;
        }
        case 2:
          for (int64_t size = 1; size < 200; ++size) as::zeros({size * 97});
          static_cast<void>(as::functions());
          as::set_log_sink([](std::string_view) {});
          break;
        default: count_.assign_add(as::ones({64})); increase_(as::ones({64}));
      }
    }
  }

 private:
  as::Variable count_{as::zeros({64})};
  as::Function<Tensor(Tensor)> scale_ = as::function([](Tensor x) { return as::sum(x * 2.0f); }, {.name = "scale"});
  as::Function<void(Tensor)> increase_ = as::function([variable = count_](Tensor x) { variable.assign_add(x); }, {.name = "increase"});
  Tensor x_ = as::random::normal({64, 8}), y_ = as::random::normal({64, 1});
  as::Sequential model_{as::Dense(32, {.activation = "relu"}), as::Dense(1)};
};

// A pass that began before the fork says that it cannot go on, and ends; one that begins in the child is whole.
void prefetched_passes() {
  const as::Dataset data = as::Dataset::from(as::arange(100)).prefetch(2);
  int64_t before = 0;
  try {
    for ([[maybe_unused]] const as::Example& example : data) {
      if (++before > 1) continue;
      const pid_t child = fork();
      if (child == 0) {
        alarm(patience);
        continue;  // with this pass
      }
      int status = 0;
      require(waitpid(child, &status, 0) == child && status == 0, "the child of a prefetched pass");
      return;
    }
    require(false, "a pass that goes on without its thread");
  } catch (const as::DataError& error) {
    require(std::string(error.what()).find("has forked since this pass began") != std::string::npos, error.what());
  }
  int64_t count = 0;
  for ([[maybe_unused]] const as::Example& example : data) ++count;
  require(before < 100 && count == 100, "a pass of the child's own");
  _exit(0);
}

// Waits in build() until it is told to go on, with a model and the layer in the middle of being built.
class Waiting : public as::Layer {
 public:
  void build(const as::Shape& input) override {
    early_ = weight("early", {input[-1]}, {.initializer = "ones"});
    is_building = true;
    while (!goes_on) std::this_thread::yield();
    late_ = weight("late", {input[-1]}, {.initializer = "ones"});
  }
  Tensor call(const Tensor& x, const as::CallContext&) override { return x * early_ + late_; }

  static inline std::atomic<bool> is_building{false}, goes_on{false};

 private:
  as::Variable early_, late_;
};

// A child builds what another thread of the parent was building.
void layers_in_the_middle() {
  for (const bool predicts : {true, false}) {
    Waiting::is_building = Waiting::goes_on = false;
    const as::Sequential model{Waiting()};
    const auto use = [&] {
      const Tensor x = as::ones({2, 3});
      const Tensor result = predicts ? model.predict(x) : model(x);
      require(as::all_equal(result, as::full({2, 3}, 2.0f)) && model.variables().size() == 2, "a layer in the middle of being built");
    };
    std::thread other(use);
    while (!Waiting::is_building) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      Waiting::goes_on = true;
      use();
      _exit(0);
    }
    int status = 0;
    require(waitpid(child, &status, 0) == child && status == 0, "the child of a process that builds a layer");
    Waiting::goes_on = true;
    other.join();
  }
}

// The owner of foreign memory ends inside an assignment, and waits for this thread, which forks.
void owners_that_wait() {
  std::atomic<bool> ends{false}, has_forked{false};
  std::vector<float> memory(1024);
  std::shared_ptr<void> owner(memory.data(), [&](void*) {
    ends = true;
    while (!has_forked) std::this_thread::yield();
  });
  std::thread other([&, given = std::move(owner)]() mutable {
    const as::Variable variable(as::from_memory(memory.data(), as::f32, {4}, {.capacity = 4096, .owner = std::move(given)}));
    variable.assign(as::ones({4}));
  });
  while (!ends) std::this_thread::yield();
  alarm(patience);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  require(waitpid(child, &status, 0) == child && status == 0, "the child of a process in which an owner waits");
  alarm(0);
  has_forked = true;
  other.join();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  as::set_log_sink([](std::string_view) {});
  const int rounds = std::atoi(arguments[1]);
  const bool is_busy = std::strcmp(arguments[2], "busy") == 0;
  Work work;
  work.all(1);
  prefetched_passes();
  layers_in_the_middle();
  owners_that_wait();
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (int thread = 0; is_busy && thread < 4; ++thread) others.emplace_back([&, thread] { work.busily(thread, ends); });
  int failures = 0;
  for (int round = 0; round < rounds; ++round) {
    if (!is_busy) as::sum(as::ones({300000 + round}));  // its workers are on their way to sleep when the process forks
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      work.all(round);
      _exit(0);
    }
    if (!is_busy) work.all(round);
    int status = 0;
    require(waitpid(child, &status, 0) == child, "waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    std::fprintf(stderr, "round %d: the child ended with status %d\n", round, status);
    ++failures;
  }
  ends.store(true);
  for (std::thread& other : others) other.join();
  return failures == 0 ? 0 : 1;
}
