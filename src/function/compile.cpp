// graph -> passes -> loops -> memory plan -> the backend's code.
#include "function/compile.h"

#include "base/dump.h"
#include "base/no_fork.h"
#include "loop/text.h"
#include "lower/lower.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <chrono>

namespace anyshape::function_detail {
namespace {

bool has_product(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const graph::Node* node) { return node->op->kind == OpKind::Contraction; });
}

std::string text_of_kernels(const lower::Program& program) {
  std::string text;
  for (const lower::Launch& launch : program.launches) text += loop::print(*launch.kernel) + "\n";
  for (const lower::LibraryCall& call : program.library_calls) text += to_string(call.work) + "\n";
  return text;
}

}  // namespace

Compiled compile(graph::Graph& graph, std::vector<Dim> symbols, std::span<const lower::Update> updates) {
  const auto start = std::chrono::steady_clock::now();
  const NoFork whole;
  runtime::Backend& backend = runtime::current_backend();
  if (has_product(graph)) backend.expect_products();
  Dump dump(graph.name);
  Decisions decisions;
  passes::PassReports reports = passes::run_passes(graph, decisions, &dump);
  lower::Program program = lower::lower(graph, decisions, updates);
  backend.map(program);
  lower::plan_memory(program, decisions);
  lower::plan_updates(program, updates, decisions);
  if (dump.is_on()) dump.write("kernels", text_of_kernels(program));

  std::shared_ptr<const runtime::Code> code = backend.compile(program);
  const int64_t bytes = code->bytes();
  auto executable = std::make_shared<runtime::Executable>(std::move(program), std::move(symbols), backend, std::move(code));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {.executable = std::move(executable),
          .report = {.decisions = std::move(decisions), .passes = std::move(reports)},
          .milliseconds = elapsed.count(),
          .code_bytes = bytes};
}

}  // namespace anyshape::function_detail
