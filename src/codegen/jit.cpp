// Owns the machine code of the process: modules are generated into objects and linked into memory, each in a library of its own that is
// removed with its last holder.
#include "codegen/jit.h"

#include "codegen/emit.h"
#include "codegen/target.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <atomic>

namespace anyshape::codegen {
namespace {

template <class T>
T require(llvm::Expected<T> expected, const char* what) {
  if (!expected) throw InternalError(fmt::format("codegen: {}: {}", what, llvm::toString(expected.takeError())));
  return std::move(*expected);
}

void require(llvm::Error error, const char* what) {
  if (error) throw InternalError(fmt::format("codegen: {}: {}", what, llvm::toString(std::move(error))));
}

// LLVM prints diagnostics on standard error unless someone takes them.
struct SilentDiagnostics : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& /*info*/) override { return true; }
};

// The session that links objects into this process. Shared by all holders of code, so that it outlives them.
class Session {
 public:
  Session() : session_(require(llvm::orc::SelfExecutorProcessControl::Create(), "no process control")), layer_(session_) {
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { llvm::consumeError(session_.endSession()); }

  llvm::orc::JITDylib& add(llvm::SmallVector<char, 0> object) {
    const std::string name = fmt::format("kernels_{}", next_.fetch_add(1));
    llvm::orc::JITDylib& library = session_.createBareJITDylib(name);
    try {
      const char prefix = '\0';
      library.addGenerator(require(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix), "no process symbols"));
      require(layer_.add(library, std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), name, false)), "object refused");
    } catch (...) {
      remove(library);
      throw;
    }
    return library;
  }

  void remove(llvm::orc::JITDylib& library) { llvm::consumeError(session_.removeJITDylib(library)); }

  AsKernel find(llvm::orc::JITDylib& library, const std::string& symbol) {
    return require(session_.lookup({&library}, session_.intern(symbol)), "kernel not linked").getAddress().toPtr<AsKernel>();
  }

 private:
  llvm::orc::ExecutionSession session_;
  llvm::orc::ObjectLinkingLayer layer_;
  std::atomic<uint64_t> next_{0};
};

std::shared_ptr<Session> session() {
  static const std::shared_ptr<Session> shared = std::make_shared<Session>();
  return shared;
}

class LinkedKernels final : public CompiledKernels {
 public:
  LinkedKernels(std::shared_ptr<Session> session, llvm::orc::JITDylib& library, int64_t bytes)
      : session_(std::move(session)), library_(library), bytes_(bytes) {}
  LinkedKernels(const LinkedKernels&) = delete;
  LinkedKernels& operator=(const LinkedKernels&) = delete;
  ~LinkedKernels() override { session_->remove(library_); }

  void link(const std::string& symbol) { entries_.push_back(session_->find(library_, symbol)); }
  AsKernel entry(size_t kernel) const override { return entries_.at(kernel); }
  size_t size() const override { return entries_.size(); }
  int64_t code_bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Session> session_;
  llvm::orc::JITDylib& library_;
  int64_t bytes_;
  std::vector<AsKernel> entries_;
};

std::string symbol_of(size_t kernel) { return fmt::format("kernel_{}", kernel); }

int64_t loaded_bytes(const llvm::SmallVector<char, 0>& object) {
  const llvm::MemoryBufferRef view(llvm::StringRef(object.data(), object.size()), "kernels");
  const auto file = require(llvm::object::ObjectFile::createObjectFile(view), "object unreadable");
  int64_t bytes = 0;
  for (const llvm::object::SectionRef& section : file->sections()) {
    if (section.isText() || section.isData()) bytes += static_cast<int64_t>(section.getSize());
  }
  return bytes;
}

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, std::span<const loop::Kernel* const> kernels,
                                          loop::ExternLookup externs, const llvm::TargetMachine& machine) {
  context.setDiagnosticHandler(std::make_unique<SilentDiagnostics>());
  auto module = std::make_unique<llvm::Module>("kernels", context);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(host().triple);
  for (size_t i = 0; i < kernels.size(); ++i) emit_kernel(*module, *kernels[i], symbol_of(i), externs);
  verify_module(*module);
  return module;
}

std::string dump(const loop::Kernel& kernel, loop::ExternLookup externs, bool assembly) {
  const loop::Kernel* const kernels[] = {&kernel};
  const TargetMachines::Lease machine = target_machines().lease();
  llvm::LLVMContext context;
  const auto module = make_module(context, kernels, externs, *machine);
  std::string text;
  if (assembly) {
    const auto bytes = generate(*module, *machine, llvm::CodeGenFileType::AssemblyFile);
    text.assign(bytes.begin(), bytes.end());
  } else {
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
  }
  return text;
}

}  // namespace

std::shared_ptr<const CompiledKernels> compile(std::span<const loop::Kernel* const> kernels, loop::ExternLookup externs) {
  llvm::SmallVector<char, 0> object;
  {
    const TargetMachines::Lease machine = target_machines().lease();
    llvm::LLVMContext context;
    const auto module = make_module(context, kernels, externs, *machine);
    object = generate(*module, *machine, llvm::CodeGenFileType::ObjectFile);
  }
  const int64_t bytes = loaded_bytes(object);
  const std::shared_ptr<Session> owner = session();
  auto linked = std::make_shared<LinkedKernels>(owner, owner->add(std::move(object)), bytes);
  for (size_t i = 0; i < kernels.size(); ++i) linked->link(symbol_of(i));
  return linked;
}

std::string target_description() { return fmt::format("{}, {}-byte vectors", host().cpu, host().vector_bytes); }

std::string dump_llvm(const loop::Kernel& kernel, loop::ExternLookup externs) { return dump(kernel, externs, false); }
std::string dump_assembly(const loop::Kernel& kernel, loop::ExternLookup externs) { return dump(kernel, externs, true); }

}  // namespace anyshape::codegen
