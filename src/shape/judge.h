// How a comparison of sizes in user code reaches the trace it stands in: the tracer is the judge of what cannot be proved.
#pragma once
#include <anyshape/dim.h>

#include <optional>
#include <string>

#include "base/thread_context.h"
#include "shape/size_check.h"

namespace anyshape {

struct DimJudge {
  virtual bool decide(Relation relation, const Dim& a, const Dim& b) = 0;  // by the first call's sizes; records the outcome as a check
  virtual int64_t specialize(const Dim& dim) = 0;                          // likewise, for one value
  virtual std::optional<int64_t> first_value(const Dim&) const {
    return std::nullopt;
  }  // in the first call, and records nothing; none: not known yet
  // Who computes with sizes now, for the text of an error: "slice: " and " In function \"f\"."; empty where nobody is named.
  virtual std::string calling_op() const { return {}; }
  virtual std::string traced_function() const { return {}; }
  virtual ~DimJudge() = default;
};

// Of this thread; null outside a trace.
inline DimJudge* current_judge() {
  const OpenTrace* const trace = this_thread.trace();
  return trace != nullptr ? trace->sizes : nullptr;
}

// The outcome of a relation: proved, or decided by the judge, or TraceError where there is none.
bool decide(Relation relation, const Dim& a, const Dim& b);

}  // namespace anyshape
