// Dtypes that ops compute in. The half-width floats are names for storage so far.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

// DtypeError for a dtype that nothing can be computed in; every op that makes a dtype asks, so that none comes into being.
void require_computable(const OpCall& call, Dtype dtype);

}  // namespace anyshape
