// Our side of bench/compare for what is bound by memory once it is fused: `fused_bench fused|softmax|layer_norm`. Prints JSON lines.
// The floor of a pass is the time in which a plain copy on all threads of the pool moves as many bytes between memory and processor as the
// pass must read and write; `..._over_floor` is how many times as long the pass takes, `..._over_copy` against a copy of arrays of its own
// size, which a large cache may hold.
#include "measure.h"
#include "runtime/cpu/pool.h"
#include "tensor/buffer.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace as = anyshape;
using as::Tensor;
using bench::emit;

namespace {

using Work = std::function<void()>;

class Copy {
 public:
  explicit Copy(int64_t bytes) : bytes_(bytes), from_(anyshape::allocate(bytes)), to_(anyshape::allocate(bytes)) {
    std::memset(from_->pointer, 0, static_cast<size_t>(bytes));  // else it is one page of zeros
  }

  void operator()() const {
    constexpr int64_t page = 4096, grain = 64;
    anyshape::runtime::Pool::shared().run((bytes_ + page - 1) / page, grain, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * page, last = std::min(end * page, bytes_);
      std::memcpy(static_cast<char*>(to_->pointer) + first, static_cast<const char*>(from_->pointer) + first,
                  static_cast<size_t>(last - first));
    });
  }

 private:
  int64_t bytes_;
  std::shared_ptr<anyshape::Buffer> from_, to_;
};

// `bytes`: what the pass cannot but read and write. Pass and copies take turns in rounds, so that each finds the caches as it left them.
void time_pass(const std::string& name, int64_t bytes, const Work& work) {
  constexpr int rounds = 4, warm = 3, samples = 10;
  constexpr int64_t large = int64_t{128} << 20;  // beyond every cache
  static const Copy memory(large);
  const Copy same(bytes / 2);
  std::vector<double> times, floors, over_floor, over_copy;
  for (int round = 0; round < rounds; ++round) {
    const double copy = bench::median(bench::repeated(warm, samples, same));
    const double floor = bench::median(bench::repeated(1, 3, memory)) * static_cast<double>(bytes) / static_cast<double>(2 * large);
    const std::vector<double> time = bench::repeated(warm, samples, work);
    times.insert(times.end(), time.begin(), time.end());
    floors.push_back(floor);
    over_floor.push_back(bench::median(time) / floor);
    over_copy.push_back(bench::median(time) / copy);
  }
  emit((name + "_ms").c_str(), bench::median(times));
  emit((name + "_min_ms").c_str(), std::ranges::min(times));
  emit((name + "_floor_ms").c_str(), bench::median(floors));
  emit((name + "_over_floor").c_str(), bench::median(over_floor));
  emit((name + "_over_copy").c_str(), bench::median(over_copy));
}

void emit_counts(const as::FunctionStats& stats) {
  emit("traces", static_cast<double>(stats.traces));
  emit("interpreted_groups", static_cast<double>(stats.interpreted_groups));
}

void run_fused() {
  const auto chain = [](const Tensor& x) { return as::gelu(x * 1.7f - 0.3f, {.approximate = true}) * as::sigmoid(x) + x; };
  const auto forward = as::function([&](Tensor x) { return chain(x); }, {.name = "fused"});
  const auto gradient = as::function(
      [&](Tensor x) {
        as::GradientTape tape;
        tape.watch(x);
        return tape.gradient(as::sum(chain(x)), x);
      },
      {.name = "fused_gradient"});
  constexpr int64_t elements = 4'000'000, bytes = 2 * elements * 4;  // x and the result, y or dx
  const Tensor x = as::random::normal({elements});
  time_pass("fused_forward", bytes, [&] { forward(x); });
  time_pass("fused_gradient", bytes, [&] { gradient(x); });
  emit_counts(forward.stats());
  emit_counts(gradient.stats());
}

// What works on rows, made for a number of columns.
struct RowLayer {
  std::function<Tensor(const Tensor&)> apply;
  std::vector<as::Variable> weights = {};
};

RowLayer softmax(int64_t) {
  return {.apply = [](const Tensor& x) { return as::softmax(x); }};
}
RowLayer layer_norm(int64_t columns) {
  const as::LayerNormalization layer({.epsilon = 1e-5});
  layer.build({as::dim("rows"), columns});
  return {.apply = [layer](const Tensor& x) { return layer(x); }, .weights = layer.variables()};
}

// Forward: y of x. Gradient: y and, from dy, the gradients of x and the weights, in one function as a training step has them.
void run_rows(RowLayer (*make)(int64_t columns)) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>(4096, 1000), {65536, 64}}) {
    const RowLayer layer = make(columns);
    // Rows are any number; so are columns, unless there are weights, whose size says how many.
    const as::Dim any_rows = as::dim("rows"), width = layer.weights.empty() ? as::dim("columns") : as::Dim(columns);
    const as::TensorSpec spec = as::spec(as::f32, {any_rows, width});
    const auto forward = as::function([&](Tensor x) { return layer.apply(x); }, {.name = "forward", .signature = {spec}});
    const auto gradient = as::function(
        [&](Tensor x, Tensor dy) {
          as::GradientTape tape;
          tape.watch(x);
          std::vector<Tensor> sources = {x};
          for (const as::Variable& weight : layer.weights) sources.push_back(weight.read());
          const Tensor y = layer.apply(x);
          return std::pair(y, tape.gradient(y, sources, {.output_gradients = {dy}}));
        },
        {.name = "gradient", .signature = {spec, spec}});
    const std::string size = std::to_string(rows) + "x" + std::to_string(columns);
    const Tensor x = as::random::normal({rows, columns}), dy = as::random::normal({rows, columns});
    const int64_t bytes = 2 * rows * columns * 4;
    time_pass(size + "_forward", bytes, [&] { forward(x); });
    time_pass(size + "_gradient", 2 * bytes, [&] { gradient(x, dy); });
    emit_counts(forward.stats());
    emit_counts(gradient.stats());
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string name = count == 2 ? arguments[1] : "";
  const std::map<std::string, Work> workloads = {
      {"fused", run_fused},
      {"softmax", [] { run_rows(softmax); }},
      {"layer_norm", [] { run_rows(layer_norm); }},
  };
  const auto found = workloads.find(name);
  if (found == workloads.end()) {
    std::fprintf(stderr, "usage: fused_bench fused|softmax|layer_norm\n");
    return 2;
  }
  as::random::set_seed(1);
  bench::calibrate();
  found->second();
  return 0;
}
