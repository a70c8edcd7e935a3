// How `if (tensor)` in user code reaches the trace it stands in: the tracer says which branch is being traced.
#pragma once
#include "base/thread_context.h"

#include <anyshape/tensor.h>

namespace anyshape {

struct BranchJudge {
  virtual bool branch(const Tensor& condition) = 0;  // of a tensor of the trace with one element
  virtual ~BranchJudge() = default;
};

// Of this thread; null outside a trace.
inline BranchJudge* current_branch_judge() {
  const OpenTrace* const trace = this_thread.trace();
  return trace != nullptr ? trace->branches : nullptr;
}

}  // namespace anyshape
