// The way from an LLVM module to an object file, or to assembly. Internal to codegen/.
#pragma once
#include "base/fork_mutex.h"
#include "loop/target.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace anyshape::codegen {

// LLVM's passes from a module to an object file, used for one module after the other: making the passes costs as much as running them on a small
// kernel.
class ObjectPasses {
 public:
  ObjectPasses(llvm::TargetMachine& machine, bool reduces_strength);
  std::string run(llvm::Module& module);

 private:
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
  llvm::legacy::PassManager passes_;
};

// A target machine with its passes, made when they are first wanted.
class ObjectWriter {
 public:
  explicit ObjectWriter(const loop::Target& target);
  llvm::TargetMachine& machine() { return *machine_; }
  bool is_for(const loop::Target& target) const;
  // Where strength is reduced, addresses in loops grow by additions. It takes a quarter of the time of large kernels, and more than in proportion to
  // their loads and stores.
  std::string write(llvm::Module& module, bool reduces_strength);

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::array<std::optional<ObjectPasses>, 2> passes_;
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

std::string assembly_of(llvm::Module& module, llvm::TargetMachine& machine, bool reduces_strength);

}  // namespace anyshape::codegen
