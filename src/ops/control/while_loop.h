// A loop on a value as one node.
#pragma once
#include "graph/attrs.h"

namespace anyshape {

// Inputs: the carried values, what the condition captures, what the body captures. Both regions take the carried values first.
struct WhileAttrs {
  int64_t carried = 0;
  int64_t condition_inputs = 0;  // captured by the condition
  int64_t max_iterations = -1;   // -1: no limit
  RegionGraph condition;
  RegionGraph body;
  template <class V>
  void visit(V& v) {
    v("carried", carried);
    v("condition_inputs", condition_inputs);
    v("max_iterations", max_iterations);
    v("condition", condition);
    v("body", body);
  }
};

}  // namespace anyshape
