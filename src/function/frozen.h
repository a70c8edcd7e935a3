// Frozen host values: what differs between two traces of one call.
#pragma once
#include "function/tracer.h"

#include <anyshape/ledger.h>

#include <functional>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// Constants, attributes, captured tensors and variables of `first` that are others when the callable is traced again. From the first op on
// that another path took, what follows cannot be compared, and only the path is reported. A second run that throws is reported, too. It
// leaves no mark: neither on the random state, nor in the log.
std::vector<FrozenValue> find_frozen(const Trace& first, const std::function<Trace()>& trace_again);

// One line for the log sink: the function, what it holds, and what to do. Nothing for nothing.
void warn_of_frozen(const std::string& function, const std::vector<FrozenValue>& frozen);

}  // namespace anyshape::function_detail
