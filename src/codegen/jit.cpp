// Owns the machine code of the process: a kernel is generated into an object, or found as one on disk, and linked into memory, in a library of
// its own that is removed with its last holder.
#include "codegen/jit.h"

#include "base/fork_mutex.h"
#include "base/pointer_table.h"
#include "codegen/build_id.h"
#include "codegen/emit.h"
#include "codegen/kernel_cache.h"
#include "codegen/lanes.h"
#include "codegen/object_writers.h"
#include "codegen/target.h"
#include "loop/text.h"
#include "runtime/cpu/pool.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

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

const std::string symbol = "kernel";

std::unique_ptr<llvm::object::ObjectFile> parsed(const std::string& object) {
  return require(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel")), "object unreadable");
}

std::vector<std::string> routines_in(const std::string& object) {
  std::vector<std::string> names;
  const auto file = parsed(object);
  for (const llvm::object::SymbolRef& each : file->symbols()) {
    const llvm::StringRef name = require(each.getName(), "object unreadable");
    if (name.starts_with(llvm::StringRef(routine_prefix.data(), routine_prefix.size()))) names.push_back(name.str());
  }
  return names;
}

int64_t loaded_bytes(const std::string& object) {
  int64_t bytes = 0;
  const auto file = parsed(object);
  for (const llvm::object::SectionRef& section : file->sections()) {
    if (section.isText() || section.isData()) bytes += static_cast<int64_t>(section.getSize());
  }
  return bytes;
}

// The session that links objects into this process. Shared by all holders of code, so that it outlives them.
class Session {
 public:
  Session() : session_(require(llvm::orc::SelfExecutorProcessControl::Create(), "no process control")), layer_(session_) {
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { llvm::consumeError(session_.endSession()); }

  llvm::orc::JITDylib& add(const std::string& object, loop::ExternLookup externs) {
    const std::string name = fmt::format("kernel_{}", next_.fetch_add(1));
    llvm::orc::JITDylib& library = session_.createBareJITDylib(name);
    try {
      const char prefix = '\0';
      library.addGenerator(require(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix), "no process symbols"));
      define_routines(library, object, externs);
      require(layer_.add(library, llvm::MemoryBuffer::getMemBufferCopy(object, name)), "object refused");
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
  // Library routines are called by name, so that an object says the same in every process.
  void define_routines(llvm::orc::JITDylib& library, const std::string& object, loop::ExternLookup externs) {
    llvm::orc::SymbolMap symbols;
    for (const std::string& name : routines_in(object)) {
      const loop::ExternFunction routine = externs != nullptr ? externs(name.substr(routine_prefix.size())) : nullptr;
      if (routine == nullptr) throw InternalError(fmt::format("codegen: an object calls an unknown routine: {}", name));
      symbols[session_.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(routine), llvm::JITSymbolFlags::Exported};
    }
    if (!symbols.empty()) require(library.define(llvm::orc::absoluteSymbols(std::move(symbols))), "routines refused");
  }

  llvm::orc::ExecutionSession session_;
  llvm::orc::ObjectLinkingLayer layer_;
  std::atomic<uint64_t> next_{0};
};

std::shared_ptr<Session> session() {
  static const std::shared_ptr<Session> shared = std::make_shared<Session>();
  return shared;
}

// One kernel's machine code.
class LinkedKernel {
 public:
  LinkedKernel(const std::string& object, loop::ExternLookup externs)
      : session_(session()), library_(session_->add(object, externs)), bytes_(loaded_bytes(object)) {
    try {
      entry_ = session_->find(library_, symbol);
    } catch (...) {
      session_->remove(library_);
      throw;
    }
  }
  LinkedKernel(const LinkedKernel&) = delete;
  LinkedKernel& operator=(const LinkedKernel&) = delete;
  ~LinkedKernel() {
    const NoFork whole;
    session_->remove(library_);
  }

  AsKernel entry() const { return entry_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Session> session_;
  llvm::orc::JITDylib& library_;
  int64_t bytes_;
  AsKernel entry_ = nullptr;
};

class SharedKernels final : public CompiledKernels {
 public:
  SharedKernels(std::vector<std::shared_ptr<const LinkedKernel>> distinct, std::vector<size_t> which)
      : distinct_(std::move(distinct)), which_(std::move(which)) {}
  AsKernel entry(size_t kernel) const override { return distinct_[which_.at(kernel)]->entry(); }
  size_t size() const override { return which_.size(); }
  int64_t code_bytes() const override {
    int64_t bytes = 0;
    for (const auto& kernel : distinct_) bytes += kernel->bytes();
    return bytes;
  }

 private:
  std::vector<std::shared_ptr<const LinkedKernel>> distinct_;
  std::vector<size_t> which_;  // of them each kernel is
};

// Kernels that somebody holds, by the text they were made from: functions and eager ops that need the same code share it.
class KernelTable {
 public:
  std::shared_ptr<const LinkedKernel> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(key);
    return found == kernels_.end() ? nullptr : found->second.lock();
  }

  void insert(const std::string& key, const std::shared_ptr<const LinkedKernel>& kernel) {
    const std::lock_guard lock(mutex_);
    kernels_[key] = kernel;
    if (kernels_.size() < 2 * held_) return;
    std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
    held_ = std::max<size_t>(kernels_.size(), 64);
  }

 private:
  ForkMutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const LinkedKernel>> kernels_;
  size_t held_ = 64;
};

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, const loop::Kernel& kernel, loop::ExternLookup externs,
                                          const llvm::TargetMachine& machine, const loop::Target& target) {
  context.setDiagnosticHandler(std::make_unique<SilentDiagnostics>());
  auto module = std::make_unique<llvm::Module>("kernel", context);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(target.triple);
  emit_kernel(*module, kernel, symbol, externs, target);
  verify_module(*module);
  return module;
}

std::string generate_object(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target) {
  const ObjectWriters::Lease writer = object_writers().lease(target);
  llvm::LLVMContext context;
  return writer->write(*make_module(context, kernel, externs, writer->machine(), target), has_few_addresses(kernel));
}

// All that the code depends on.
std::string key_of(const loop::Kernel& kernel, const loop::Target& target) {
  static const std::string build = build_id();
  return fmt::format("anyshape {}, LLVM {}, {} {}, {} bytes\n{}", build, LLVM_VERSION_STRING, target.cpu, target.features,
                     target.vector_bytes, loop::print(kernel));
}

std::shared_ptr<const LinkedKernel> link_from_disk(DiskCache& disk, const std::string& key, loop::ExternLookup externs) {
  const std::optional<std::string> object = disk.find(key);
  if (!object) return nullptr;
  try {
    return std::make_shared<const LinkedKernel>(*object, externs);
  } catch (const InternalError&) {
    return nullptr;  // whole, and yet not what LLVM writes: made anew
  }
}

std::shared_ptr<const LinkedKernel> shared_kernel(const loop::Kernel& kernel, const std::string& key, loop::ExternLookup externs,
                                                  const loop::Target& target) {
  static KernelTable& table = *new KernelTable;  // never destroyed: ops may run in destructors of statics
  if (auto held = table.find(key)) return held;
  const std::shared_ptr<DiskCache> disk = disk_cache();
  std::shared_ptr<const LinkedKernel> linked = disk != nullptr ? link_from_disk(*disk, key, externs) : nullptr;
  if (linked == nullptr) {
    const std::string object = generate_object(kernel, externs, target);
    linked = std::make_shared<const LinkedKernel>(object, externs);
    if (disk != nullptr) disk->store(key, object);
  }
  table.insert(key, linked);
  return linked;
}

std::string dump(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target, bool assembly) {
  const NoFork whole;
  const ObjectWriters::Lease writer = object_writers().lease(target);
  llvm::LLVMContext context;
  const auto module = make_module(context, kernel, externs, writer->machine(), target);
  if (assembly) return assembly_of(*module, writer->machine(), has_few_addresses(kernel));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

}  // namespace

// Kernels that say the same, as the updates of weights of several sizes do, are one. The others are compiled side by side, the largest first, so that
// no thread is left with one at the end: generating code is most of what a first call takes.
std::shared_ptr<const CompiledKernels> compile(std::span<const loop::Kernel* const> kernels, loop::ExternLookup externs,
                                               const loop::Target& target) {
  std::vector<std::string> keys;
  std::vector<const loop::Kernel*> distinct;
  std::vector<size_t> which;
  std::unordered_map<std::string, size_t> known;
  PointerTable<loop::Kernel, std::optional<size_t>> met;  // a program has most of its kernels several times
  for (const loop::Kernel* kernel : kernels) {
    std::optional<size_t>& number = met[kernel];
    if (number) {
      which.push_back(*number);
      continue;
    }
    std::string key = key_of(*kernel, target);
    const auto [found, is_new] = known.try_emplace(key, distinct.size());
    number = found->second;
    which.push_back(*number);
    if (!is_new) continue;
    keys.push_back(std::move(key));
    distinct.push_back(kernel);
  }
  const NoFork whole;  // LLVM's own state included
  std::vector<std::shared_ptr<const LinkedKernel>> linked(distinct.size());
  std::vector<size_t> order(distinct.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(-static_cast<int64_t>(distinct[i]->types.size()), i); });
  runtime::Pool::shared().run(static_cast<int64_t>(order.size()), 1, [&](int64_t begin, int64_t end) {
    for (const size_t i : std::span(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)))
      linked[i] = shared_kernel(*distinct[i], keys[i], externs, target);
  });
  return std::make_shared<SharedKernels>(std::move(linked), std::move(which));
}

std::string dump_llvm(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target) {
  return dump(kernel, externs, target, false);
}
std::string dump_assembly(const loop::Kernel& kernel, loop::ExternLookup externs, const loop::Target& target) {
  return dump(kernel, externs, target, true);
}

}  // namespace anyshape::codegen
