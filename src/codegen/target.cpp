// The host's processor, vector width and target machines, and the code generation pipeline of LLVM without its mid-end.
#include "codegen/target.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <atomic>

namespace anyshape::codegen {
namespace {

std::atomic<const Host*> other_host{nullptr};

Host describe_host() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Host result;
  result.triple = llvm::sys::getProcessTriple();
  result.cpu = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const auto& feature : present) features.AddFeature(feature.first(), feature.second);
  result.features = features.getString();
  const auto has = [&](llvm::StringRef name) { return present.lookup(name); };
  result.has_lane_masks = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  result.has_masked_store = result.has_lane_masks || has("avx2");
  result.vector_bytes = result.has_lane_masks ? 64 : has("avx2") ? 32 : 16;
  return result;
}

std::unique_ptr<llvm::TargetMachine> make_machine() {
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(host().triple, message);
  if (target == nullptr) throw InternalError(fmt::format("codegen: LLVM has no target for {}: {}", host().triple, message));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(host().triple, host().cpu, host().features, options,
                                                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                           llvm::CodeGenOptLevel::Less, /*JIT=*/true));
  if (!machine) throw InternalError(fmt::format("codegen: LLVM gave no target machine for {} {}", host().triple, host().cpu));
  return machine;
}

}  // namespace

const Host& host() {
  static const Host described = describe_host();
  const Host* other = other_host.load();
  return other != nullptr ? *other : described;
}

ScopedHost::ScopedHost(const std::string& cpu) : limited_(host()) {
  limited_.cpu = cpu;
  limited_.features = "";
  limited_.has_lane_masks = false;
  limited_.has_masked_store = cpu == "x86-64-v3";
  limited_.vector_bytes = cpu == "x86-64-v3" ? 32 : 16;
  other_host.store(&limited_);
  target_machines().forget();
}

ScopedHost::~ScopedHost() {
  other_host.store(nullptr);
  target_machines().forget();
}

void TargetMachines::forget() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

TargetMachines::Lease TargetMachines::lease() {
  std::unique_ptr<llvm::TargetMachine> machine;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      machine = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!machine) machine = make_machine();
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
