// LLVM's target machines, and the way from an LLVM module to an object file. Internal to codegen/.
#pragma once
#include "base/fork_mutex.h"
#include "loop/target.h"

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace anyshape::codegen {

// Target machines cost a good part of a small compile and serve one thread at a time, so finished ones are kept.
class TargetMachines {
 public:
  using Lease = std::unique_ptr<llvm::TargetMachine, std::function<void(llvm::TargetMachine*)>>;
  Lease lease(const loop::Target& target);

 private:
  std::unique_ptr<llvm::TargetMachine> take_idle(const loop::Target& target);  // null: there is none

  ForkMutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

TargetMachines& target_machines();

// Runs LLVM's verifier (InternalError with its text), then code generation into an object file or assembly text.
void verify_module(const llvm::Module& module);
llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind);

}  // namespace anyshape::codegen
