// Our side of bench/compare for images: `image_bench resnet50/PART`, the workload of bench/peers. A training step ends when the loss is on the host.
// Prints JSON lines.
#include "measure.h"
#include "support/temporary_folder.h"

#include <anyshape/applications.h>

#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

namespace as = anyshape;
using as::Tensor;
using bench::emit;
using bench::milliseconds;

namespace {

using Size = std::array<int64_t, 2>;  // height, width

// As bench/peers/workloads.py has it.
constexpr int64_t rows = 4, classes = 10;
constexpr Size steady = {96, 96}, predicted = {224, 224};
const std::vector<Size> unseen = {{64, 64}, {128, 128}, {80, 112}, {160, 96}, {144, 144}};
const std::vector<Size> predicted_unseen = {{192, 192}, {256, 256}, {160, 224}, {224, 288}, {320, 240}};

Tensor images(int64_t count, Size size) { return as::random::normal({count, size[0], size[1], 3}); }

as::Batch batch(Size size) { return {.x = {images(rows, size)}, .y = {as::random::integers({rows}, {.high = classes, .dtype = as::i32})}}; }

as::Model network() {
  as::Model model = as::applications::resnet50({.input_shape = {as::dynamic, as::dynamic, 3}, .classes = classes});
  model.compile({.optimizer = as::sgd({.learning_rate = 0.001f, .momentum = 0.9f}), .loss = "sparse_categorical_crossentropy"});
  return model;
}

// Each size twice in a row: the first time it has never been seen.
void emit_unseen(const std::string& prefix, const std::vector<Size>& sizes, const std::function<std::function<void()>(Size)>& call_of) {
  std::vector<double> first, ratios;
  for (const Size& size : sizes) {
    const std::function<void()> call = call_of(size);
    first.push_back(milliseconds(call));
    ratios.push_back(first.back() / milliseconds(call));
  }
  emit((prefix + "unseen_ms").c_str(), bench::median(first));
  emit((prefix + "unseen_over_seen").c_str(), bench::median(ratios));
}

void train(bool is_first_alone) {
  as::Model model = network();
  auto step = model.train_step();
  const as::Batch first = batch(steady);
  float loss = 0, last = 0;
  const double first_ms = milliseconds([&] { loss = step(model, model.optimizer(), first).item<float>(); });
  if (is_first_alone) {
    std::printf("%.3f\n", first_ms);
    return;
  }
  emit("first_step_ms", first_ms);
  const std::vector<double> times = bench::repeated(3, 25, [&] { last = step(model, model.optimizer(), first).item<float>(); });
  emit("steady_ms", times[times.size() / 2]);
  emit("steady_min_ms", times[0]);
  if (!(last < loss)) std::fprintf(stderr, "image_bench: the loss did not go down: %g, then %g\n", loss, last);
  emit_unseen("", unseen, [&](Size size) -> std::function<void()> {
    return [&, item = batch(size)] { step(model, model.optimizer(), item).item<float>(); };
  });
  emit("traces", static_cast<double>(step.stats().traces));
  emit("compiles", static_cast<double>(step.stats().compiles));
}

void predict() {
  const as::Model model = network();
  auto forward = as::function([&](Tensor x) { return model(x, {.training = false}); }, {.name = "predict"});
  const Tensor first = images(1, predicted);
  emit("infer_first_ms", milliseconds([&] { forward(first); }));
  const std::vector<double> times = bench::repeated(3, 25, [&] { forward(first); });
  emit("infer_steady_ms", times[times.size() / 2]);
  emit("infer_steady_min_ms", times[0]);
  emit_unseen("infer_", predicted_unseen, [&](Size size) -> std::function<void()> { return [&, x = images(1, size)] { forward(x); }; });
  emit("traces", static_cast<double>(forward.stats().traces));
}

// A first step is one of a process that has done nothing else: each runs in a child, the second with the kernels that the first left on disk.
void run_first(const char* program) {
  const anyshape::test::TemporaryFolder folder;
  setenv("ANYSHAPE_KERNEL_CACHE", folder.path().c_str(), 1);
  for (const char* metric : {"first_cold_ms", "first_cached_ms"}) {
    FILE* const child = popen((std::string(program) + " resnet50/one").c_str(), "r");
    double value = 0;
    const bool is_read = child != nullptr && std::fscanf(child, "%lf", &value) == 1;
    if (child == nullptr || pclose(child) != 0 || !is_read) throw std::runtime_error("the child failed");
    emit(metric, value);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string name = count == 2 ? arguments[1] : "";
  const std::map<std::string, std::function<void()>> parts = {{"resnet50/steady", [] { train(false); }},
                                                              {"resnet50/infer", predict},
                                                              {"resnet50/first", [&] { run_first(arguments[0]); }},
                                                              {"resnet50/one", [] { train(true); }}};
  if (!parts.contains(name)) {
    std::fprintf(stderr, "usage: image_bench WORKLOAD/PART, one of:\n");
    for (const auto& [each, run] : parts) std::fprintf(stderr, "  %s\n", each.c_str());
    return 2;
  }
  if (std::getenv("ANYSHAPE_KERNEL_CACHE") == nullptr)
    as::set_kernel_cache({.enabled = false});  // a first step is cold unless asked otherwise
  as::random::set_seed(1);
  if (name != "resnet50/one") bench::calibrate();
  parts.at(name)();
  return 0;
}
