// The way from an LLVM module to an object file, or to assembly. Internal to codegen/.
#pragma once
#include "base/fork_mutex.h"
#include "loop/target.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace anyshape::codegen {

// A target machine with LLVM's passes from a module to an object file, used for one module after the other: making the passes costs as much as
// running them on a small kernel.
class ObjectWriter {
 public:
  explicit ObjectWriter(const loop::Target& target);
  llvm::TargetMachine& machine() { return *machine_; }
  bool is_for(const loop::Target& target) const;
  std::string write(llvm::Module& module);

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
  llvm::legacy::PassManager passes_;
};

// Object writers serve one thread at a time; finished ones are kept.
class ObjectWriters {
 public:
  using Lease = std::unique_ptr<ObjectWriter, std::function<void(ObjectWriter*)>>;
  Lease lease(const loop::Target& target);
  void forget();

 private:
  std::unique_ptr<ObjectWriter> take_idle(const loop::Target& target);  // null: there is none

  ForkMutex mutex_;
  std::vector<std::unique_ptr<ObjectWriter>> idle_;
};

ObjectWriters& object_writers();

// InternalError with the text of LLVM's verifier where it refuses the module.
void verify_module(const llvm::Module& module);

std::string assembly_of(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace anyshape::codegen
