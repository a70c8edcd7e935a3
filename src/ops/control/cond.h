// Two regions as one node: what `cond` and an `if` on a tensor become.
#pragma once
#include "graph/trace_scope.h"

namespace anyshape {

struct CondAttrs {
  int64_t then_inputs = 0;  // of the inputs after the condition; the others are the second region's
  RegionGraph then;
  RegionGraph otherwise;
  template <class V>
  void visit(V& v) {
    v("then_inputs", then_inputs);
    v("then", then);
    v("else", otherwise);
  }
};

struct Joined {
  std::vector<Tensor> results;
  std::vector<std::pair<std::shared_ptr<VariableState>, Tensor>> assigned;
};

// TraceError where the regions do not give the same number of results, dtypes and ranks. A host number takes the other one's dtype.
Joined join(const Tensor& condition, Region then, Region otherwise);

// One element, as b8, rank 0.
Tensor as_condition(std::string_view op, const Tensor& condition);

}  // namespace anyshape
