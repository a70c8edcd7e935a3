// Frozen host values: what differs between two traces of one call.
#pragma once
#include "function/tracer.h"

#include <anyshape/ledger.h>

#include <functional>
#include <vector>

namespace anyshape::function_detail {

// Constants, attributes and captured tensors of `first` that are others when the callable is traced again. From the first op on that
// another path took, what follows cannot be compared, and only the path is reported. A second run that throws is reported, too.
std::vector<FrozenValue> find_frozen(const Trace& first, const std::function<Trace()>& trace_again);

}  // namespace anyshape::function_detail
