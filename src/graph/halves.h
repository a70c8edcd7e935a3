// Which ops take halves as they are.
#pragma once
#include "graph/op_def.h"
#include "tensor/half.h"

namespace anyshape {

// Loops load and store halves, but an op that writes its own may keep sums in memory or call a library: bind() casts what goes into it.
inline bool computes_in_f32(const OpDef& op) { return op.lower != nullptr && op.kind != OpKind::Movement; }

}  // namespace anyshape
