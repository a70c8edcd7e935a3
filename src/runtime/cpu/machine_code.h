// Kernels as machine code of this processor, one entry per launch of a program.
#pragma once
#include "loop/target.h"
#include "runtime/backend.h"
#include "runtime/cpu/abi.h"

#include <vector>

namespace anyshape::runtime {

struct MachineCode final : Code {
  int64_t bytes() const override { return code_bytes; }
  std::vector<AsKernel> entries;
  int64_t code_bytes = 0;
  std::shared_ptr<const void> holder;  // of the code
};

// The code generator's: codegen/machine_code.cpp.
const loop::Target& processor();  // that this process runs on
std::shared_ptr<const MachineCode> generate_machine_code(const lower::Program& program);

}  // namespace anyshape::runtime
