// Why a call needs a new trace: the difference to the nearest earlier one, and what to change.
#pragma once
#include "function/trace_cache.h"

namespace anyshape::function_detail {

struct Explanation {
  Cause cause = Cause::FirstCall;
  std::string reason;
  std::string advice;
};

// The call by its tensors, which have passed the signature if there is one, its key, and in words; `is_taped`: under a tape. Traces made under a
// tape are compared among themselves.
Explanation explain_retrace(const FunctionOptions& options, const TraceCache& cache, std::span<const Tensor> arguments,
                            const std::string& key, const detail::structure::Description& description, bool is_taped);

}  // namespace anyshape::function_detail
