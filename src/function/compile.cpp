// graph -> passes -> loops -> memory plan -> machine code.
#include "function/compile.h"

#include "codegen/jit.h"
#include "lower/lower.h"
#include "passes/run_passes.h"
#include "runtime/externs.h"

#include <chrono>

namespace anyshape::function_detail {
namespace {

thread_local int interpretations = 0;

}  // namespace

ScopedInterpretation::ScopedInterpretation() { ++interpretations; }
ScopedInterpretation::~ScopedInterpretation() { --interpretations; }
bool ScopedInterpretation::active() { return interpretations > 0; }

Compiled compile(graph::Graph& graph, std::vector<Dim> symbols) {
  const auto start = std::chrono::steady_clock::now();
  passes::run_passes(graph);
  lower::Program program = lower::lower(graph);
  lower::plan_memory(program);

  std::vector<AsKernel> entries;
  std::shared_ptr<const codegen::CompiledKernels> code;
  if (!ScopedInterpretation::active() && !program.steps.empty()) {
    std::vector<const loop::Kernel*> kernels;
    for (const lower::Step& step : program.steps) kernels.push_back(&step.kernel);
    code = codegen::compile(kernels, runtime::find_extern);
    for (size_t i = 0; i < kernels.size(); ++i) entries.push_back(code->entry(i));
  }
  const int64_t code_bytes = code != nullptr ? code->code_bytes() : 0;
  auto executable = std::make_shared<runtime::Executable>(std::move(program), std::move(symbols), std::move(entries), std::move(code));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(executable), elapsed.count(), code_bytes};
}

}  // namespace anyshape::function_detail
