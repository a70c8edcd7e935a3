// graph -> passes -> loops -> memory plan -> machine code.
#include "function/compile.h"

#include "codegen/jit.h"
#include "loop/text.h"
#include "lower/lower.h"
#include "passes/run_passes.h"
#include "runtime/externs.h"
#include "runtime/pool.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace anyshape::function_detail {
namespace {

thread_local int interpretations = 0;

struct MachineCode {
  std::vector<AsKernel> entries;  // one per step
  int64_t bytes = 0;
  std::shared_ptr<const void> holder;
};

// The kernels of a program without those that say the same, as the updates of weights of several sizes do.
struct DistinctKernels {
  std::vector<const loop::Kernel*> kernels;
  std::vector<size_t> of_step;  // which of them

  explicit DistinctKernels(const lower::Program& program) {
    std::unordered_map<std::string, size_t> known;
    for (const lower::Step& step : program.steps) {
      const auto [found, is_new] = known.try_emplace(loop::print(step.kernel), kernels.size());
      if (is_new) kernels.push_back(&step.kernel);
      of_step.push_back(found->second);
    }
  }
};

// Kernels are compiled side by side: generating code is most of what a first call takes.
MachineCode generate(const lower::Program& program) {
  using Code = std::vector<std::shared_ptr<const codegen::CompiledKernels>>;
  const DistinctKernels distinct(program);
  auto code = std::make_shared<Code>(distinct.kernels.size());
  runtime::Pool::shared().run(static_cast<int64_t>(code->size()), 1, [&](int64_t begin, int64_t end) {
    for (auto kernel = static_cast<size_t>(begin); kernel < static_cast<size_t>(end); ++kernel)
      (*code)[kernel] = codegen::compile({&distinct.kernels[kernel], 1}, runtime::find_extern);
  });
  MachineCode result;
  for (const size_t kernel : distinct.of_step) result.entries.push_back((*code)[kernel]->entry(0));
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
