// How compile time grows with depth, by stage: training steps of 160, 640 and 1280 Dense layers, the same with LayerNormalization between them, and
// nested branches. `depth_bench [KIND DEPTH...]`. What is linear takes four times as long for four times the depth. Beside the stages stands what a
// user waits for and what the ledger says of it.
#include "codegen/jit.h"
#include "codegen/target.h"
#include "function/trace_entry.h"
#include "function/tracer.h"
#include "graph/text.h"
#include "lower/lower.h"
#include "lower/map_cpu.h"
#include "passes/run_passes.h"
#include "runtime/backends.h"
#include "runtime/cpu/externs.h"
#include "runtime/executable.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

class Stages {
 public:
  template <class Body>
  auto operator()(std::string_view name, const Body& body) {
    const auto start = std::chrono::steady_clock::now();
    struct AtEnd {
      Stages& stages;
      std::string_view name;
      std::chrono::steady_clock::time_point start;
      ~AtEnd() {
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
        stages.text_ += fmt::format("  {} {:.0f}", name, elapsed.count());
      }
    } const at_end{*this, name, start};
    return body();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// All that function() does for a first call, one after the other.
void compile_by_stage(Stages& stage, const std::vector<as::TensorSpec>& arguments, const as::Bindings& sizes,
                      const std::vector<as::Dim>& symbols, const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  as::function_detail::Trace trace = stage("trace", [&] {
    as::function_detail::Tracer tracer("depth", arguments, sizes);
    return tracer.run([&](std::span<const Tensor> given) -> as::detail::FunctionResults { return {body(given)}; });
  });
  const std::vector<as::lower::Update> updates = as::function_detail::updates_of(trace);
  as::Decisions decisions;
  stage("print", [&] { return as::graph::print(*trace.graph); });
  stage("passes", [&] { return as::passes::run_passes(*trace.graph, decisions); });
  as::lower::Program program = stage("lower", [&] { return as::lower::lower(*trace.graph, decisions, updates); });
  stage("map", [&] { as::lower::map_for_cpu(program, {}); });
  stage("plan_memory", [&] { as::lower::plan_memory(program, decisions); });
  stage("plan_updates", [&] { as::lower::plan_updates(program, updates, decisions); });
  std::vector<const as::loop::Kernel*> kernels;
  for (const as::lower::Launch& launch : program.launches) kernels.push_back(launch.kernel.get());
  const auto code = stage("generate", [&] { return as::codegen::compile(kernels, as::runtime::find_extern, as::codegen::host_target()); });
  stage("executable", [&] { return as::runtime::Executable(std::move(program), symbols, as::runtime::cpu_backend(), nullptr); });
}

as::Sequential network(int depth, bool normalizes) {
  as::Sequential model;
  for (int layer = 0; layer < depth; ++layer) {
    model.add(as::Dense(8, {.activation = "relu"}));
    if (normalizes) model.add(as::LayerNormalization());
  }
  model.add(as::Dense(1));
  model.build({as::dim("batch"), 8});
  return model;
}

void training_step(Stages& stage, int depth, bool normalizes) {
  const as::Sequential model = network(depth, normalizes);
  as::Optimizer optimizer = as::adam();
  const as::Loss loss = as::mean_squared_error();
  optimizer.build(model.trainable_variables());
  const as::Dim batch = as::dim("batch");
  as::Bindings sizes;
  sizes.set(batch, 4);
  compile_by_stage(stage, {as::spec(as::f32, {batch, 8}), as::spec(as::f32, {batch, 1})}, sizes, {batch},
                   [&](std::span<const Tensor> given) {
                     as::GradientTape tape;
                     const Tensor value = loss(given[1], model(given[0]));
                     const std::vector<as::Variable> variables = model.trainable_variables();
                     optimizer.apply(tape.gradient(value, variables), variables);
                     return std::vector<Tensor>{value};
                   });
}

Tensor nested(const Tensor& x, int depth) {
  if (depth == 0) return x;
  return as::cond(as::sum(x) > 0.0F, [&] { return nested(x + 1.0F, depth - 1); }, [&] { return x * 2.0F; });
}

void branches(Stages& stage, int depth) {
  const as::Dim n = as::dim("n");
  as::Bindings sizes;
  sizes.set(n, 3);
  compile_by_stage(stage, {as::spec(as::f32, {n})}, sizes, {n},
                   [&](std::span<const Tensor> given) { return std::vector<Tensor>{nested(given[0], depth)}; });
}

// The whole, as a user meets it: seconds of the first call, and those that the ledger has for it.
as::FunctionStats first_call(const std::string& kind, int depth) {
  if (kind == "cond") {
    auto f = as::function([&](Tensor x) { return nested(x, depth); }, {.name = "nested"});
    f(as::ones({3}));
    return f.stats();
  }
  as::Sequential model = network(depth, kind == "norm");
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(as::ones({4, 8}), as::ones({4, 1}), {.batch_size = 4, .verbose = as::Verbose::Silent});
  return model.train_step().stats();
}

void measure(const std::string& kind, int depth) {
  Stages stage;
  if (kind == "cond") {
    branches(stage, depth);
  } else {
    training_step(stage, depth, kind == "norm");
  }
  const auto start = std::chrono::steady_clock::now();
  const as::FunctionStats stats = first_call(kind, depth);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{} {}: {:.3f} s, ledger {:.3f} s; ms:{}\n", kind, depth, elapsed.count(), (stats.trace_ms + stats.compile_ms) / 1e3,
             stage.text());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    for (int i = 2; i < argc; ++i) measure(argv[1], std::atoi(argv[i]));
    return 0;
  }
  for (const int depth : {160, 640, 1280}) measure("dense", depth);
  for (const int depth : {40, 160, 320}) measure("norm", depth);
  for (const int depth : {100, 400, 1500}) measure("cond", depth);
}
