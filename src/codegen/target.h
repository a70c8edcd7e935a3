// The machine that code is generated for, and the way from an LLVM module to an object file. Internal to codegen/.
#pragma once
#include "base/fork_mutex.h"

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace anyshape::codegen {

// What the emitter must know of the host.
struct Host {
  std::string triple, cpu, features;
  int vector_bytes = 16;
  bool has_lane_masks = false;    // masked memory access, gather and scatter in hardware for 4- and 8-byte elements (AVX-512)
  bool has_masked_store = false;  // masked stores in hardware for 4- and 8-byte elements (AVX)
};

const Host& host();

// Code is generated for another processor as long as this lives ("x86-64-v3": AVX2, "x86-64-v2": SSE4), so that one machine can test every
// path of the emitter. Not for use beside other compiles.
class ScopedHost {
 public:
  explicit ScopedHost(const std::string& cpu);
  ~ScopedHost();
  ScopedHost(const ScopedHost&) = delete;
  ScopedHost& operator=(const ScopedHost&) = delete;

 private:
  Host limited_;
};

// Target machines cost a good part of a small compile and serve one thread at a time, so finished ones are kept.
class TargetMachines {
 public:
  using Lease = std::unique_ptr<llvm::TargetMachine, std::function<void(llvm::TargetMachine*)>>;
  Lease lease();
  void forget();

 private:
  ForkMutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

TargetMachines& target_machines();

// Runs LLVM's verifier (InternalError with its text), then code generation into an object file or assembly text.
void verify_module(const llvm::Module& module);
llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind);

}  // namespace anyshape::codegen
