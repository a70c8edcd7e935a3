// Suspends the trace in progress on this thread: what runs while one lives runs eagerly, and variables are made, read and assigned as outside.
// For state that is made once, whatever is traced meanwhile: initial values, the slots of an optimizer.
#pragma once
#include "graph/bind.h"
#include "graph/trace_scope.h"
#include "shape/judge.h"

namespace anyshape {

class OutsideTrace {
 public:
  OutsideTrace() : interpreter_(eager_interpreter()), judge_(nullptr), variables_(current_variable_scope()), trace_(current_trace_scope()) {
    set_current_variable_scope(nullptr);
    set_current_trace_scope(nullptr);
  }
  ~OutsideTrace() {
    set_current_variable_scope(variables_);
    set_current_trace_scope(trace_);
  }
  OutsideTrace(const OutsideTrace&) = delete;
  OutsideTrace& operator=(const OutsideTrace&) = delete;

 private:
  ScopedInterpreter interpreter_;
  ScopedJudge judge_;
  VariableScope* variables_;
  TraceScope* trace_;
};

}  // namespace anyshape
