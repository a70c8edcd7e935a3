// What compiling a trace has to say: told by explain(), read by nothing that runs.
#pragma once
#include "base/decision.h"
#include "passes/pass_report.h"

namespace anyshape::function_detail {

struct CompileReport {
  Decisions decisions;
  passes::PassReports passes;  // that ran before it was lowered
};

}  // namespace anyshape::function_detail
