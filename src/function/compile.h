// The way from a graph to something that runs: passes, lowering, memory plan, and what the thread's backend makes of it. The table of contents of the product.
#pragma once
#include "function/compile_report.h"
#include "graph/graph.h"
#include "runtime/backends.h"
#include "runtime/executable.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::function_detail {

struct Compiled {
  std::shared_ptr<const runtime::Executable> executable;
  CompileReport report;
  double milliseconds = 0;
  int64_t code_bytes = 0;
};

// `symbols` in the order a call gives their values; `updates` are the outputs that are next values of variables among the inputs.
Compiled compile(graph::Graph& graph, std::vector<Dim> symbols, std::span<const lower::Update> updates = {});

// While one lives on this thread, what is compiled is interpreted instead: the oracle of tests.
class ScopedInterpretation {
 public:
  ScopedInterpretation() : backend_(runtime::interpreter_backend()) {}

 private:
  const runtime::ScopedBackend backend_;
};

}  // namespace anyshape::function_detail
