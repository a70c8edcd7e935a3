// How `if (tensor)` in user code reaches the trace it stands in: the tracer says which branch is being traced.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape {

struct BranchJudge {
  virtual bool branch(const Tensor& condition) = 0;  // of a tensor of the trace with one element
  virtual ~BranchJudge() = default;
};

BranchJudge* current_branch_judge();  // of this thread; null outside a trace
void set_current_branch_judge(BranchJudge* judge);

}  // namespace anyshape
