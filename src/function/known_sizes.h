// What FunctionOptions::shapes makes of a call's sizes: numbers, symbols, or symbols where they have changed.
#pragma once
#include "function/trace_cache.h"

namespace anyshape::function_detail {

// What Shapes says of a call's sizes: which of a signature's symbols are numbers in its trace.
Signature::KnownSizes known_sizes(Shapes shapes, std::span<const int64_t> values, const TraceCache& cache,
                                  std::span<const Tensor> arguments, const std::string& key);

}  // namespace anyshape::function_detail
