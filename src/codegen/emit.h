// From a loop kernel to LLVM functions: the entry (kernel ABI) and one function per Parallel loop. Internal to codegen/.
#pragma once
#include "loop/externs.h"
#include "loop/ir.h"
#include "loop/target.h"

#include <llvm/IR/Module.h>

#include <string>
#include <string_view>

namespace anyshape::codegen {

inline constexpr std::string_view routine_prefix = "anyshape_routine_";  // symbols of library routines that kernels call

void emit_kernel(llvm::Module& module, const loop::Kernel& kernel, const std::string& symbol, loop::ExternLookup externs,
                 const loop::Target& target);

}  // namespace anyshape::codegen
