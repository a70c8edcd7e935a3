// The trace in progress as control flow sees it: callables become graphs inside nodes, and a plain `if` is traced both ways.
#pragma once
#include "base/thread_context.h"
#include "graph/graph.h"
#include "graph/stateful.h"

#include <anyshape/function.h>

#include <functional>

namespace anyshape {

using detail::FunctionResults;

// A callable as a graph. Its inputs are the arguments, then `captures`; its outputs the results, then the new values of `assigned`.
struct Region {
  struct Assigned {
    std::shared_ptr<VariableState> variable;
    Tensor before;  // its value where the region begins: among the captures if the region uses it
  };
  RegionGraph graph;
  size_t arguments = 0;
  size_t results = 0;
  std::vector<bool> weak;  // per result: a host number, which takes the dtype of what it meets
  std::vector<Tensor> captures;
  std::vector<Assigned> variables;  // all that are read or assigned
  std::vector<Assigned> assigned;
};

using RegionBody = std::function<std::vector<Tensor>(std::span<const Tensor> arguments)>;
using ScopeBody = std::function<FunctionResults()>;

class TraceScope {
 public:
  // Size rules inside stay with the region: they are verified when it runs.
  virtual Region trace_region(std::string_view name, std::span<const TensorSpec> arguments, const RegionBody& body) = 0;
  // A callable of the user's that the library calls. An `if` on a tensor inside runs it again for each outcome and joins at its return.
  virtual FunctionResults run_scope(const ScopeBody& body) = 0;
  virtual ~TraceScope() = default;
};

// Of this thread; null outside a trace.
inline TraceScope* current_trace_scope() {
  const OpenTrace* const trace = this_thread.trace();
  return trace != nullptr ? trace->regions : nullptr;
}

// Calls `body` as a scope of the trace in progress; simply, outside a trace.
FunctionResults run_scope(const ScopeBody& body);

// What a callable would give for arguments of these specs, by a trace that nobody keeps.
std::vector<TensorSpec> specs_of_results(const RegionBody& body, std::span<const TensorSpec> arguments);

}  // namespace anyshape
