// graph -> passes -> loops -> memory plan -> machine code.
#include "function/compile.h"

#include "codegen/jit.h"
#include "lower/lower.h"
#include "passes/run_passes.h"
#include "runtime/externs.h"
#include "runtime/pool.h"

#include <algorithm>
#include <chrono>

namespace anyshape::function_detail {
namespace {

thread_local int interpretations = 0;

struct MachineCode {
  std::vector<AsKernel> entries;  // one per step
  int64_t bytes = 0;
  std::shared_ptr<const void> holder;
};

// Kernels are compiled side by side: generating code is most of what a first call takes.
MachineCode generate(const lower::Program& program) {
  using Code = std::vector<std::shared_ptr<const codegen::CompiledKernels>>;
  runtime::Pool& pool = runtime::Pool::shared();
  const size_t parts = std::min<size_t>(program.steps.size(), static_cast<size_t>(pool.threads()));
  auto code = std::make_shared<Code>(parts);
  pool.run(static_cast<int64_t>(parts), 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      std::vector<const loop::Kernel*> kernels;
      for (size_t step = static_cast<size_t>(part); step < program.steps.size(); step += parts)
        kernels.push_back(&program.steps[step].kernel);
      (*code)[static_cast<size_t>(part)] = codegen::compile(kernels, runtime::find_extern);
    }
  });
  MachineCode result;
  for (size_t step = 0; step < program.steps.size(); ++step) result.entries.push_back((*code)[step % parts]->entry(step / parts));
  for (const auto& each : *code) result.bytes += each->code_bytes();
  result.holder = std::move(code);
  return result;
}

}  // namespace

ScopedInterpretation::ScopedInterpretation() { ++interpretations; }
ScopedInterpretation::~ScopedInterpretation() { --interpretations; }
bool ScopedInterpretation::active() { return interpretations > 0; }

Compiled compile(graph::Graph& graph, std::vector<Dim> symbols) {
  const auto start = std::chrono::steady_clock::now();
  passes::run_passes(graph);
  lower::Program program = lower::lower(graph);
  lower::plan_memory(program);

  MachineCode code;
  if (!ScopedInterpretation::active()) code = generate(program);
  auto executable =
      std::make_shared<runtime::Executable>(std::move(program), std::move(symbols), std::move(code.entries), std::move(code.holder));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(executable), elapsed.count(), code.bytes};
}

}  // namespace anyshape::function_detail
