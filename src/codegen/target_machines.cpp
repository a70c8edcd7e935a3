// Machines by what they are for, and the code generation pipeline of LLVM without its mid-end.
#include "codegen/target_machines.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace anyshape::codegen {
namespace {

std::unique_ptr<llvm::TargetMachine> make_machine(const loop::Target& target) {
  std::string message;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(target.triple, message);
  if (known == nullptr) throw InternalError(fmt::format("codegen: LLVM has no target for {}: {}", target.triple, message));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(known->createTargetMachine(target.triple, target.cpu, target.features, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Less, /*JIT=*/true));
  if (!machine) throw InternalError(fmt::format("codegen: LLVM gave no target machine for {} {}", target.triple, target.cpu));
  return machine;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> TargetMachines::take_idle(const loop::Target& target) {
  const std::lock_guard lock(mutex_);
  const auto is_for = [&](const std::unique_ptr<llvm::TargetMachine>& machine) {
    return machine->getTargetCPU() == target.cpu && machine->getTargetFeatureString() == target.features &&
           machine->getTargetTriple().str() == target.triple;
  };
  const auto found = std::ranges::find_if(idle_, is_for);
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine = std::move(*found);
  idle_.erase(found);
  return machine;
}

TargetMachines::Lease TargetMachines::lease(const loop::Target& target) {
  std::unique_ptr<llvm::TargetMachine> machine = take_idle(target);
  if (!machine) machine = make_machine(target);
  return Lease(machine.release(), [this](llvm::TargetMachine* returned) {
    std::unique_ptr<llvm::TargetMachine> owned(returned);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(owned));
  });
}

TargetMachines& target_machines() {
  static TargetMachines machines;
  return machines;
}

void verify_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) throw InternalError(fmt::format("codegen: LLVM refuses the generated module: {}", text));
}

llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) throw InternalError("codegen: LLVM cannot write this kind of file");
  passes.run(module);
  return bytes;
}

}  // namespace anyshape::codegen
