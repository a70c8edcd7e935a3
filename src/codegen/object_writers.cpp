// Writers by what they are for, and the code generation pipeline of LLVM without its mid-end.
#include "codegen/object_writers.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>

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

// The option's place is inside our copy of LLVM; it is read when passes are added.
class WithoutStrengthReduction {
 public:
  explicit WithoutStrengthReduction(bool is_meant) : lock_(mutex()) { set(is_meant); }
  ~WithoutStrengthReduction() { set(false); }
  WithoutStrengthReduction(const WithoutStrengthReduction&) = delete;
  WithoutStrengthReduction& operator=(const WithoutStrengthReduction&) = delete;

 private:
  static ForkMutex& mutex() {
    static ForkMutex& shared = *new ForkMutex;
    return shared;
  }
  static void set(bool value) {
    llvm::cl::Option* const option = llvm::cl::getRegisteredOptions().lookup("disable-lsr");
    if (option == nullptr) throw InternalError("codegen: LLVM has no option disable-lsr");
    static_cast<llvm::cl::opt<bool>*>(option)->setValue(value);
  }

  std::lock_guard<ForkMutex> lock_;
};

// What addPassesToEmitFile does, without the scheduler of machine instructions: the processor orders them as well, and no kernel is slower for it.
void add_passes(llvm::TargetMachine& machine, llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                llvm::CodeGenFileType kind) {
  auto& target = static_cast<llvm::LLVMTargetMachine&>(machine);
  auto* const functions = new llvm::MachineModuleInfoWrapperPass(&target);  // the pass manager's, as is what follows
  llvm::TargetPassConfig* const config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::MachineSchedulerID);
  passes.add(config);
  passes.add(functions);
  const bool is_refused = config->addISelPasses();
  if (is_refused) throw InternalError("codegen: LLVM cannot select instructions");
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, stream, nullptr, kind, functions->getMMI().getContext()))
    throw InternalError("codegen: LLVM cannot write this kind of file");
  passes.add(llvm::createFreeMachineFunctionPass());
}

}  // namespace

ObjectPasses::ObjectPasses(llvm::TargetMachine& machine, bool reduces_strength) {
  const WithoutStrengthReduction option(!reduces_strength);
  add_passes(machine, passes_, stream_, llvm::CodeGenFileType::ObjectFile);
}

std::string ObjectPasses::run(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  return {bytes_.begin(), bytes_.end()};
}

ObjectWriter::ObjectWriter(const loop::Target& target) : machine_(make_machine(target)) {}

bool ObjectWriter::is_for(const loop::Target& target) const {
  return machine_->getTargetCPU() == target.cpu && machine_->getTargetFeatureString() == target.features &&
         machine_->getTargetTriple().str() == target.triple;
}

std::string ObjectWriter::write(llvm::Module& module, bool reduces_strength) {
  std::optional<ObjectPasses>& passes = passes_[reduces_strength ? 1 : 0];
  if (!passes) passes.emplace(*machine_, reduces_strength);
  return passes->run(module);
}

void ObjectWriters::forget() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

std::unique_ptr<ObjectWriter> ObjectWriters::take_idle(const loop::Target& target) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(idle_, [&](const auto& writer) { return writer->is_for(target); });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<ObjectWriter> writer = std::move(*found);
  idle_.erase(found);
  return writer;
}

ObjectWriters::Lease ObjectWriters::lease(const loop::Target& target) {
  std::unique_ptr<ObjectWriter> writer = take_idle(target);
  if (!writer) writer = std::make_unique<ObjectWriter>(target);
  return Lease(writer.release(), [this](ObjectWriter* returned) {
    std::unique_ptr<ObjectWriter> owned(returned);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(owned));
  });
}

ObjectWriters& object_writers() {
  static ObjectWriters& writers = *new ObjectWriters;  // never destroyed: ops may run in destructors of statics
  return writers;
}

void verify_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) throw InternalError(fmt::format("codegen: LLVM refuses the generated module: {}", text));
}

std::string assembly_of(llvm::Module& module, llvm::TargetMachine& machine, bool reduces_strength) {
  const WithoutStrengthReduction option(!reduces_strength);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  add_passes(machine, passes, stream, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace anyshape::codegen
