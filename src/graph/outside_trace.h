// Suspends the trace in progress on this thread: what runs while one lives runs eagerly, and variables are made, read and assigned as outside.
// For state that is made once, whatever is traced meanwhile: initial values, the slots of an optimizer.
#pragma once
#include "graph/bind.h"

namespace anyshape {

class OutsideTrace {
 public:
  OutsideTrace() : eager_(eager_interpreter(), nullptr) {}
  OutsideTrace(const OutsideTrace&) = delete;
  OutsideTrace& operator=(const OutsideTrace&) = delete;

 private:
  ScopedInterpreter eager_;
};

}  // namespace anyshape
