// The trace of this thread.
#include "graph/trace_scope.h"

namespace anyshape {
namespace {

thread_local TraceScope* trace_scope = nullptr;

}  // namespace

TraceScope* current_trace_scope() { return trace_scope; }

void set_current_trace_scope(TraceScope* scope) {
  trace_scope = scope;
  set_current_branch_judge(scope);
}

FunctionResults run_scope(const ScopeBody& body) { return trace_scope != nullptr ? trace_scope->run_scope(body) : body(); }

}  // namespace anyshape
