// How a comparison of sizes in user code reaches the trace it stands in: the tracer is the judge of what cannot be proved.
#pragma once
#include <anyshape/dim.h>

#include "shape/size_check.h"

namespace anyshape {

struct DimJudge {
  virtual bool decide(Relation relation, const Dim& a, const Dim& b) = 0;  // by the first call's sizes; records the outcome as a check
  virtual int64_t specialize(const Dim& dim) = 0;                          // likewise, for one value
  virtual ~DimJudge() = default;
};

DimJudge* current_judge();  // of this thread; null outside a trace

// The outcome of a relation: proved, or decided by the judge, or TraceError where there is none.
bool decide(Relation relation, const Dim& a, const Dim& b);

class ScopedJudge {
 public:
  explicit ScopedJudge(DimJudge* judge);
  ~ScopedJudge();
  ScopedJudge(const ScopedJudge&) = delete;
  ScopedJudge& operator=(const ScopedJudge&) = delete;

 private:
  DimJudge* outer_;
};

}  // namespace anyshape
