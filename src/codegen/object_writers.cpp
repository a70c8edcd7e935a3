// Writers by what they are for, and the code generation pipeline of LLVM without its mid-end.
#include "codegen/object_writers.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>

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

void add_passes(llvm::TargetMachine& machine, llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                llvm::CodeGenFileType kind) {
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) throw InternalError("codegen: LLVM cannot write this kind of file");
}

}  // namespace

ObjectWriter::ObjectWriter(const loop::Target& target) : machine_(make_machine(target)) {
  add_passes(*machine_, passes_, stream_, llvm::CodeGenFileType::ObjectFile);
}

bool ObjectWriter::is_for(const loop::Target& target) const {
  return machine_->getTargetCPU() == target.cpu && machine_->getTargetFeatureString() == target.features &&
         machine_->getTargetTriple().str() == target.triple;
}

std::string ObjectWriter::write(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  return {bytes_.begin(), bytes_.end()};
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

std::string assembly_of(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  add_passes(machine, passes, stream, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace anyshape::codegen
