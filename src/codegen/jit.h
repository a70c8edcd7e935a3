// The code generator's entrance: loop kernels in, machine code in memory out. Nothing of LLVM is visible here.
#pragma once
#include "loop/externs.h"
#include "loop/ir.h"
#include "loop/target.h"
#include "runtime/cpu/abi.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace anyshape::codegen {

// Machine code of the kernels compiled together. The code is freed when the last holder lets go, so hold it while an entry runs.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  CompiledKernels(const CompiledKernels&) = delete;
  CompiledKernels& operator=(const CompiledKernels&) = delete;
  virtual AsKernel entry(size_t kernel) const = 0;  // in the order given to compile()
  virtual size_t size() const = 0;                  // number of kernels
  virtual int64_t code_bytes() const = 0;           // machine code and constants

 protected:
  CompiledKernels() = default;
};

// Compiles verified kernels that are cut for the target. Thread-safe; threads compile beside each other. A kernel that calls a routine `externs`
// does not know, or that LLVM's verifier refuses, is an InternalError.
std::shared_ptr<const CompiledKernels> compile(std::span<const loop::Kernel* const> kernels, loop::ExternLookup externs,
                                               const loop::Target& target);

// LLVM's text of the kernels before code generation, and the assembly after: for people who read generated code.
std::string dump_llvm(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target);
std::string dump_assembly(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target);

}  // namespace anyshape::codegen
