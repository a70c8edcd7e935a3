// The guard of the ops that make a tensor of a dtype named by the caller.
#include "ops/computable.h"

#include <fmt/format.h>

namespace anyshape {

void require_computable(const OpCall& call, Dtype dtype) {
  if (dtype != Dtype::f16 && dtype != Dtype::bf16) return;
  call.fail_dtype(fmt::format("dtype {} has no arithmetic", to_string(dtype)), "one of b8, u8, i32, i64, f32, f64");
}

}  // namespace anyshape
