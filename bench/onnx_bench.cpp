// Our side of bench/compare for models of open sizes that tools/setup_onnx fetches: `onnx_bench onnx/MODEL`, as bench/peers/peer_models.py has it: a first
// result, a stream of sizes that were never seen before, the same sizes again. Prints JSON lines.
#include "measure.h"
#include "support/resident_memory.h"
#include "support/temporary_folder.h"

#include <anyshape/onnx.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

namespace as = anyshape;
using as::Tensor;
using bench::emit;
using bench::milliseconds;

namespace {

using Feed = std::vector<Tensor>;

struct Workload {
  Feed first;
  std::vector<Feed> stream;
  as::onnx::LoadOptions options = {};
};

Tensor uniform(const as::Shape& shape) { return as::random::uniform(shape, {.low = -1, .high = 1}); }

Workload detect() {
  const auto feed = [](int64_t height, int64_t width) { return Feed{uniform({1, 3, height, width})}; };
  Workload workload{.first = feed(64, 64), .stream = {}};
  for (int64_t i = 0; i < 20; ++i) workload.stream.push_back(feed(256 + 32 * (7 * i % 17), 256 + 32 * (5 * i % 16)));
  return workload;
}

Workload recognise() {
  const auto feed = [](int64_t width) { return Feed{uniform({6, 3, 48, width})}; };
  Workload workload{.first = feed(48), .stream = {}};
  for (int64_t i = 0; i < 30; ++i) workload.stream.push_back(feed(80 + 19 * (11 * i % 30)));
  return workload;
}

// The rate decides a branch of the graph whose other side takes other lengths: it is fixed.
Workload silero() {
  const auto feed = [](int64_t batch, int64_t length) { return Feed{uniform({batch, length}), as::zeros({2, batch, 128})}; };
  Workload workload{.first = feed(16, 576), .stream = {}, .options = {.values = {{"sr", Tensor(int64_t{16000})}}}};
  for (int64_t i = 0; i < 40; ++i) workload.stream.push_back(feed(8 + 3 * (7 * i % 41), 512 + 16 * (i % 12)));
  return workload;
}

using Predict = as::Function<std::vector<Tensor>(std::vector<Tensor>)>;

Predict load(const std::string& name, const Workload& workload) {
  const char* const folder = std::getenv("ANYSHAPE_ONNX");
  if (folder == nullptr) throw std::runtime_error("ANYSHAPE_ONNX is to be the folder that tools/setup_onnx filled");
  const as::Model model = as::onnx::load(std::string(folder) + "/real/" + name + "/model.onnx", workload.options);
  return as::function([model](std::vector<Tensor> inputs) { return model.outputs(inputs).tensors(); }, {.name = name});
}

void run_stream(const std::string& name, const Workload& workload) {
  Predict predict = load(name, workload);
  predict(workload.first);
  const auto all = [&] {
    for (const Feed& feed : workload.stream) predict(feed);
  };
  const int64_t before = anyshape::test::resident_bytes();
  const double stream = milliseconds(all);
  const int64_t growth = anyshape::test::resident_bytes() - before;
  const double again = milliseconds(all);
  emit("stream_ms", stream);
  emit("again_ms", again);
  emit("unseen_over_seen", stream / again);
  emit("growth_mib", static_cast<double>(growth) / (1 << 20));
  emit("traces", static_cast<double>(predict.stats().traces));
  emit("compiles", static_cast<double>(predict.stats().compiles));
}

// From nothing to the first result, in a child each: without kernels on disk, then with those that the first has left there.
void run_first(const char* program, const std::string& name) {
  const anyshape::test::TemporaryFolder folder;
  setenv("ANYSHAPE_KERNEL_CACHE", folder.path().c_str(), 1);
  for (const char* metric : {"first_ms", "first_cached_ms"}) {
    FILE* const child = popen((std::string(program) + " one/" + name).c_str(), "r");
    double value = 0;
    const bool is_read = child != nullptr && std::fscanf(child, "%lf", &value) == 1;
    if (child == nullptr || pclose(child) != 0 || !is_read) throw std::runtime_error("the child failed");
    emit(metric, value);
  }
  unsetenv("ANYSHAPE_KERNEL_CACHE");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string asked = count == 2 ? arguments[1] : "", name = asked.substr(asked.find('/') + 1);
  const std::map<std::string, Workload (*)()> workloads = {{"detect", detect}, {"recognise", recognise}, {"silero", silero}};
  if (!workloads.contains(name)) {
    std::fprintf(stderr, "usage: ANYSHAPE_ONNX=FOLDER onnx_bench onnx/MODEL, one of:\n");
    for (const auto& [each, make] : workloads) std::fprintf(stderr, "  %s\n", each.c_str());
    return 2;
  }
  as::random::set_seed(1);
  const Workload workload = workloads.at(name)();
  if (asked.starts_with("one/")) {
    std::printf("%.3f\n", milliseconds([&] { load(name, workload)(workload.first); }));
    return 0;
  }
  if (std::getenv("ANYSHAPE_KERNEL_CACHE") == nullptr) as::set_kernel_cache({.enabled = false});
  bench::calibrate();
  run_first(arguments[0], name);
  run_stream(name, workload);
  return 0;
}
