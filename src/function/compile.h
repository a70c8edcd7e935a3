// The way from a graph to something that runs: passes, lowering, memory plan, machine code. The table of contents of the product.
#pragma once
#include "graph/graph.h"
#include "runtime/executable.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::function_detail {

struct Compiled {
  std::shared_ptr<const runtime::Executable> executable;
  double milliseconds = 0;
  int64_t code_bytes = 0;
};

// `symbols` in the order a call gives their values; `updates` are the outputs that are next values of variables among the inputs.
Compiled compile(graph::Graph& graph, std::vector<Dim> symbols, std::span<const lower::Update> updates = {});

// While one lives on this thread, what is compiled is interpreted instead: the oracle of tests.
class ScopedInterpretation {
 public:
  ScopedInterpretation();
  ~ScopedInterpretation();
  ScopedInterpretation(const ScopedInterpretation&) = delete;
  ScopedInterpretation& operator=(const ScopedInterpretation&) = delete;
  static bool active();
};

}  // namespace anyshape::function_detail
