// Scopes of the trace in progress.
#include "graph/trace_scope.h"

namespace anyshape {

FunctionResults run_scope(const ScopeBody& body) {
  TraceScope* const scope = current_trace_scope();
  return scope != nullptr ? scope->run_scope(body) : body();
}

}  // namespace anyshape
