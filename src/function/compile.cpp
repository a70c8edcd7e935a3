// graph -> passes -> loops -> memory plan -> machine code.
#include "function/compile.h"

#include "base/dump.h"
#include "base/no_fork.h"
#include "base/thread_context.h"
#include "codegen/jit.h"
#include "codegen/target.h"
#include "loop/text.h"
#include "lower/lower.h"
#include "lower/map_cpu.h"
#include "passes/run_passes.h"
#include "runtime/cpu/externs.h"
#include "runtime/cpu/warm_up.h"

#include <algorithm>
#include <chrono>

namespace anyshape::function_detail {
namespace {

struct MachineCode {
  std::vector<AsKernel> entries;  // one per launch
  std::shared_ptr<const codegen::CompiledKernels> holder;
};

bool has_product(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const graph::Node* node) { return node->op->kind == OpKind::Contraction; });
}

MachineCode generate(const lower::Program& program, const loop::Target& target) {
  std::vector<const loop::Kernel*> kernels;
  for (const lower::Launch& launch : program.launches) kernels.push_back(launch.kernel.get());
  MachineCode code{.entries = {}, .holder = codegen::compile(kernels, runtime::find_extern, target)};
  for (size_t launch = 0; launch < kernels.size(); ++launch) code.entries.push_back(code.holder->entry(launch));
  return code;
}

std::string text_of_kernels(const lower::Program& program) {
  std::string text;
  for (const lower::Launch& launch : program.launches) text += loop::print(*launch.kernel) + "\n";
  for (const lower::LibraryCall& call : program.library_calls) text += to_string(call.work) + "\n";
  return text;
}

}  // namespace

ScopedInterpretation::ScopedInterpretation() { ++this_thread.interpretations; }
ScopedInterpretation::~ScopedInterpretation() { --this_thread.interpretations; }
bool ScopedInterpretation::active() { return this_thread.interpretations > 0; }

Compiled compile(graph::Graph& graph, std::vector<Dim> symbols, std::span<const lower::Update> updates) {
  const auto start = std::chrono::steady_clock::now();
  const NoFork whole;
  if (has_product(graph)) runtime::start_warming_up_products();
  const loop::Target& target = codegen::host_target();
  Dump dump(graph.name);
  Decisions decisions;
  passes::PassReports reports = passes::run_passes(graph, decisions, &dump);
  lower::Program program = lower::lower(graph, decisions, updates);
  lower::map_for_cpu(program, target);
  lower::plan_memory(program, decisions);
  lower::plan_updates(program, updates, decisions);
  program.decisions = std::move(decisions);
  program.passes = std::move(reports);
  if (dump.is_on()) dump.write("kernels", text_of_kernels(program));

  MachineCode code;
  if (!ScopedInterpretation::active()) code = generate(program, target);
  const int64_t bytes = code.holder == nullptr ? 0 : code.holder->code_bytes();
  auto executable =
      std::make_shared<runtime::Executable>(std::move(program), std::move(symbols), std::move(code.entries), std::move(code.holder));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(executable), elapsed.count(), bytes};
}

}  // namespace anyshape::function_detail
