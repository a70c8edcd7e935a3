// The ledger in words: why a call needs a new trace, and the table of all traces.
#pragma once
#include "function/trace_entry.h"

namespace anyshape::function_detail {

// The difference between a call and the nearest earlier trace, with what to do about it; "first call" where there is none.
std::string explain(std::span<const std::shared_ptr<const TraceEntry>> earlier, std::span<const Tensor> arguments,
                    const structure::Description& description);

std::string report(const std::string& name, const FunctionStats& stats, std::span<const std::shared_ptr<const TraceEntry>> entries);

}  // namespace anyshape::function_detail
