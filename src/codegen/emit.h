// From a loop kernel to LLVM functions: the entry (kernel ABI) and one function per Parallel loop. Internal to codegen/.
#pragma once
#include "loop/externs.h"
#include "loop/ir.h"

#include <llvm/IR/Module.h>

#include <string>

namespace anyshape::codegen {

void emit_kernel(llvm::Module& module, const loop::Kernel& kernel, const std::string& symbol, loop::ExternLookup externs);

}  // namespace anyshape::codegen
