// Where the time of a first training step goes: by stage, by depth and by kernel.
//   compile_bench layers             networks of 1, 4, 16 and 64 equal layers, as lines of JSON for bench/compare
//   compile_bench KIND DEPTH...      milliseconds by stage, of kinds dense, norm, lstm, gru, transformer and cond; what is linear takes four times as
//                                    long for four times the depth. "found" is what stands in for "generate" where all kernels are on disk. Beside the
//                                    stages stands what a user waits for and what the ledger says of it
//   compile_bench kernels KIND DEPTH every distinct kernel by itself: milliseconds of code generation, bytes of code, lines of its loops, ops
// Nothing else is taken from disk. Code generation is side by side on the pool in a first call; kernels by themselves are generated one after the other.
#include "codegen/jit.h"
#include "codegen/target.h"
#include "function/trace_entry.h"
#include "function/tracer.h"
#include "graph/text.h"
#include "loop/text.h"
#include "lower/lower.h"
#include "lower/map_cpu.h"
#include "measure.h"
#include "passes/run_passes.h"
#include "runtime/backends.h"
#include "runtime/cpu/externs.h"
#include "runtime/executable.h"
#include "support/temporary_folder.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Names and milliseconds, in order.
class Stages {
 public:
  template <class Body>
  auto operator()(std::string_view name, const Body& body) {
    struct AtEnd {
      Stages& stages;
      std::string_view name;
      std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
      ~AtEnd() { stages.all_.emplace_back(name, milliseconds_since(start)); }
    } const at_end{*this, name};
    return body();
  }
  const std::vector<std::pair<std::string, double>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, double>> all_;
};

// Something that function() could trace: its arguments, the sizes of the first call, and what it computes.
struct Traced {
  std::vector<as::TensorSpec> arguments;
  as::Bindings sizes;
  std::vector<as::Dim> symbols;
  std::function<std::vector<Tensor>(std::span<const Tensor>)> body;
};

// A model with the shape of one row of its input, and the step of a first call by `fit`.
struct Network {
  as::Model model;
  std::vector<as::Dim> row;
  Tensor x, y;
};

constexpr int64_t width = 8, rows = 4, time_steps = 5;

as::Model functional(const Tensor& x, const Tensor& y) { return as::Model({.inputs = {x}, .outputs = {y}}); }

Network dense(int depth, bool normalizes) {
  as::Sequential model;
  for (int layer = 0; layer < depth; ++layer) {
    model.add(as::Dense(width, {.activation = "relu"}));
    if (normalizes) model.add(as::LayerNormalization());
  }
  model.add(as::Dense(1));
  return {model, {width}, as::ones({rows, width}), as::ones({rows, 1})};
}

Network recurrent(int depth, bool gru) {
  as::Sequential model;
  for (int layer = 0; layer < depth; ++layer) {
    const bool sequences = layer + 1 < depth;
    if (gru) {
      model.add(as::GRU(width, {.return_sequences = sequences}));
    } else {
      model.add(as::LSTM(width, {.return_sequences = sequences}));
    }
  }
  model.add(as::Dense(1));
  return {model, {as::dim("time"), width}, as::ones({rows, time_steps, width}), as::ones({rows, 1})};
}

Network transformer(int depth) {
  const auto norm = [](const Tensor& x) { return as::LayerNormalization({.epsilon = 1e-6})(x); };
  const Tensor x = as::input({as::dynamic, width});
  Tensor h = x;
  for (int layer = 0; layer < depth; ++layer) {
    h = as::Add()({h, as::MultiHeadAttention(2, 4)(norm(h))});
    h = as::Add()({h, as::Dense(width)(as::Dense(2 * width, {.activation = "gelu"})(norm(h)))});
  }
  const as::Model model = functional(x, as::Dense(1)(as::GlobalAveragePooling1D()(norm(h))));
  return {model, {as::dim("time"), width}, as::ones({rows, time_steps, width}), as::ones({rows, 1})};
}

const std::map<std::string, std::function<Network(int)>>& networks() {
  static const std::map<std::string, std::function<Network(int)>> all = {{"dense", [](int depth) { return dense(depth, false); }},
                                                                         {"norm", [](int depth) { return dense(depth, true); }},
                                                                         {"lstm", [](int depth) { return recurrent(depth, false); }},
                                                                         {"gru", [](int depth) { return recurrent(depth, true); }},
                                                                         {"transformer", transformer}};
  return all;
}

Traced training_step(const Network& network) {
  const as::Dim batch = as::dim("batch");
  as::Shape shape{batch};
  as::Bindings sizes;
  std::vector<as::Dim> symbols = {batch};
  sizes.set(batch, rows);
  for (const as::Dim& size : network.row) {
    shape.push_back(size);
    if (size.is_constant()) continue;
    symbols.push_back(size);
    sizes.set(size, time_steps);
  }
  as::Model model = network.model;
  model.build(shape);
  as::Optimizer optimizer = as::adam();
  optimizer.build(model.trainable_variables());
  const as::Loss loss = as::mean_squared_error();
  return {{as::spec(as::f32, shape), as::spec(as::f32, {batch, 1})}, sizes, symbols, [=](std::span<const Tensor> given) mutable {
            as::GradientTape tape;
            const Tensor value = loss(given[1], model(given[0]));
            const std::vector<as::Variable> variables = model.trainable_variables();
            optimizer.apply(tape.gradient(value, variables), variables);
            return std::vector<Tensor>{value};
          }};
}

Tensor nested(const Tensor& x, int depth) {
  if (depth == 0) return x;
  return as::cond(as::sum(x) > 0.0F, [&] { return nested(x + 1.0F, depth - 1); }, [&] { return x * 2.0F; });
}

Traced branches(int depth) {
  const as::Dim n = as::dim("n");
  as::Bindings sizes;
  sizes.set(n, 3);
  return {
      {as::spec(as::f32, {n})}, sizes, {n}, [=](std::span<const Tensor> given) { return std::vector<Tensor>{nested(given[0], depth)}; }};
}

Traced traced(const std::string& kind, int depth) { return kind == "cond" ? branches(depth) : training_step(networks().at(kind)(depth)); }

std::vector<const as::loop::Kernel*> kernels_of(const as::lower::Program& program) {
  std::vector<const as::loop::Kernel*> kernels;
  for (const as::lower::Launch& launch : program.launches) kernels.push_back(launch.kernel.get());
  return kernels;
}

// What function() does for a first call up to machine code, one after the other.
as::lower::Program program_by_stage(Stages& stage, const Traced& given) {
  as::function_detail::Trace trace = stage("trace", [&] {
    as::function_detail::Tracer tracer("step", given.arguments, given.sizes);
    return tracer.run([&](std::span<const Tensor> tensors) -> as::detail::FunctionResults { return {given.body(tensors)}; });
  });
  const std::vector<as::lower::Update> updates = as::function_detail::updates_of(trace);
  as::Decisions decisions;
  stage("passes", [&] { return as::passes::run_passes(*trace.graph, decisions); });
  as::lower::Program program = stage("lower", [&] { return as::lower::lower(*trace.graph, decisions, updates); });
  stage("map", [&] { as::lower::map_for_cpu(program, as::codegen::host_target()); });
  stage("memory", [&] {
    as::lower::plan_memory(program, decisions);
    as::lower::plan_updates(program, updates, decisions);
  });
  return program;
}

Stages compile_by_stage(const Traced& given) {
  Stages stage;
  as::lower::Program program = program_by_stage(stage, given);
  stage("generate", [&] { return as::codegen::compile(kernels_of(program), as::runtime::find_extern, as::codegen::host_target()); });
  stage("executable", [&] { return as::runtime::Executable(std::move(program), given.symbols, as::runtime::cpu_backend(), nullptr); });
  return stage;
}

// The kernels read and linked instead of generated.
double found_on_disk(const Traced& given) {
  Stages stage;
  const as::lower::Program program = program_by_stage(stage, given);
  const as::test::TemporaryFolder folder;
  as::set_kernel_cache({.folder = folder.path()});
  const auto compiled = [&] { return as::codegen::compile(kernels_of(program), as::runtime::find_extern, as::codegen::host_target()); };
  compiled();  // nobody holds the code: what is left of it is the files
  stage("found", compiled);
  as::set_kernel_cache({.enabled = false});
  return stage.all().back().second;
}

// The whole, as a user meets it: what the ledger has for the first call.
as::FunctionStats first_call(const std::string& kind, int depth) {
  if (kind == "cond") {
    auto f = as::function([&](Tensor x) { return nested(x, depth); }, {.name = "nested"});
    f(as::ones({3}));
    return f.stats();
  }
  Network network = networks().at(kind)(depth);
  network.model.compile({.optimizer = "adam", .loss = "mse"});
  network.model.fit(network.x, network.y, {.batch_size = rows, .verbose = as::Verbose::Silent});
  return network.model.train_step().stats();
}

void print_stages(const std::string& kind, int depth) {
  const Stages stages = compile_by_stage(traced(kind, depth));  // holds no code: the first call below generates it again
  const auto start = std::chrono::steady_clock::now();
  const as::FunctionStats stats = first_call(kind, depth);
  fmt::print("{} {}: {:.3f} s, ledger {:.3f} s; ms:", kind, depth, milliseconds_since(start) / 1e3,
             (stats.trace_ms + stats.compile_ms) / 1e3);
  for (const auto& [name, milliseconds] : stages.all()) fmt::print("  {} {:.1f}", name, milliseconds);
  fmt::print("  found {:.1f}\n", found_on_disk(traced(kind, depth)));
  std::fflush(stdout);
}

void print_kernels(const std::string& kind, int depth) {
  Stages ignored;
  const as::lower::Program program = program_by_stage(ignored, traced(kind, depth));
  struct Line {
    double milliseconds;
    int64_t bytes, lines, launches;
    std::string ops;
  };
  std::map<const as::loop::Kernel*, Line> lines;
  for (const as::lower::Launch& launch : program.launches) {
    Line& line = lines[launch.kernel.get()];
    if (line.launches++ > 0) continue;
    const std::string text = as::loop::print(*launch.kernel);
    const as::loop::Kernel* const one[] = {launch.kernel.get()};
    const auto start = std::chrono::steady_clock::now();
    const auto code = as::codegen::compile(one, as::runtime::find_extern, as::codegen::host_target());
    line.milliseconds = milliseconds_since(start);
    line.bytes = code->code_bytes();
    line.lines = std::ranges::count(text, '\n');
    for (const std::string& op : launch.ops) line.ops += (line.ops.empty() ? "" : ", ") + op.substr(op.find(' ') + 1);
  }
  std::vector<Line> sorted;
  for (const auto& [kernel, line] : lines) sorted.push_back(line);
  std::ranges::sort(sorted, std::greater(), &Line::milliseconds);
  double all = 0;
  fmt::print("{:>8} {:>8} {:>6} {:>9}  ops\n", "ms", "bytes", "lines", "launches");
  for (const Line& line : sorted) {
    all += line.milliseconds;
    fmt::print("{:8.2f} {:8} {:6} {:9}  {}\n", line.milliseconds, line.bytes, line.lines, line.launches, line.ops.substr(0, 110));
  }
  fmt::print("{:8.2f} ms in all, {} kernels, {} launches\n", all, sorted.size(), program.launches.size());
}

// Each depth is compiled several times, and the least time of each stage counts: what else runs on the machine only adds.
void print_layers() {
  constexpr int times = 5;
  for (const std::string kind : {"dense", "lstm", "transformer"}) {
    std::map<int, double> whole;
    for (const int depth : {1, 4, 16, 64}) {
      std::vector<std::pair<std::string, double>> least;
      for (int time = 0; time < times; ++time) {
        const auto all = compile_by_stage(traced(kind, depth)).all();
        if (least.empty()) least = all;
        for (size_t i = 0; i < all.size(); ++i) least[i].second = std::min(least[i].second, all[i].second);
      }
      double graph = 0;
      for (const auto& [stage, milliseconds] : least) {
        whole[depth] += milliseconds;
        if (stage != "generate") graph += milliseconds;
        if (depth == 64) bench::emit((fmt::format("{}_{}_{}_ms", kind, depth, stage)).c_str(), milliseconds);
      }
      bench::emit((fmt::format("{}_{}_graph_ms", kind, depth)).c_str(), graph);
      bench::emit((fmt::format("{}_{}_ms", kind, depth)).c_str(), whole[depth]);
    }
    bench::emit((kind + "_64_over_4").c_str(), whole[64] / whole[4]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  as::set_kernel_cache({.enabled = false});
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "layers" && argc == 2) {
    bench::calibrate();
    print_layers();
    return 0;
  }
  const bool kernels = what == "kernels";
  const std::string kind = kernels && argc > 2 ? argv[2] : what;
  const int first = kernels ? 3 : 2;
  if ((kind != "cond" && !networks().contains(kind)) || argc <= first) {
    fmt::print(stderr, "usage: compile_bench layers | [kernels] KIND DEPTH...; KIND is cond");
    for (const auto& [name, make] : networks()) fmt::print(stderr, ", {}", name);
    fmt::print(stderr, "\n");
    return 2;
  }
  for (int i = first; i < argc; ++i) kernels ? print_kernels(kind, std::atoi(argv[i])) : print_stages(kind, std::atoi(argv[i]));
}
