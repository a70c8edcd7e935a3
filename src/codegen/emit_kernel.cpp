// Functions, blocks, branches and calls of library routines: the skeleton that the other emit_*.cpp fill.
#include "codegen/emit.h"
#include "codegen/emitter.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace anyshape::codegen {

using loop::Block;
using loop::Instruction;
using loop::LoopKind;
using loop::Op;

namespace {

void collect_definitions(const Block& block, std::vector<const Instruction*>& definitions) {
  for (const Instruction& instruction : block) {
    if (instruction.op == Op::Constant || instruction.op == Op::Size) {
      definitions[static_cast<size_t>(instruction.results[0].id)] = &instruction;
    }
    collect_definitions(instruction.body, definitions);
    collect_definitions(instruction.otherwise, definitions);
  }
}

// Whether time is spent in the block itself: what runs once for a launch takes none to speak of.
bool takes_time(const Block& block, bool repeats) {
  return std::ranges::any_of(block, [&](const Instruction& instruction) {
    switch (instruction.op) {
      case Op::For:
        if (instruction.kind == LoopKind::Parallel) return false;  // a function of its own
        return instruction.kind == LoopKind::Vector || takes_time(instruction.body, true);
      case Op::Reduce: return true;
      case Op::If: return takes_time(instruction.body, repeats) || takes_time(instruction.otherwise, repeats);
      case Op::Load:
      case Op::Store:
      case Op::Call: return repeats;
      default: return false;
    }
  });
}

}  // namespace

void emit_kernel(llvm::Module& module, const loop::Kernel& kernel, const std::string& symbol, loop::ExternLookup externs,
                 const loop::Target& target) {
  Emitter(module, kernel, symbol, externs, target).emit_entry();
}

Emitter::Emitter(llvm::Module& module, const loop::Kernel& kernel, std::string symbol, loop::ExternLookup externs,
                 const loop::Target& target)
    : module_(module),
      kernel_(kernel),
      symbol_(std::move(symbol)),
      externs_(externs),
      target_(target),
      builder_(module.getContext()),
      definitions_(kernel.types.size(), nullptr) {
  collect_definitions(kernel.body, definitions_);
}

llvm::FunctionType* Emitter::entry_type() {
  llvm::Type* const pointer = builder_.getPtrTy();
  return llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer}, false);
}

llvm::FunctionType* Emitter::body_type() {
  llvm::Type *const pointer = builder_.getPtrTy(), *const integer = builder_.getInt64Ty();
  return llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer, pointer, integer, integer}, false);
}

void Emitter::set_attributes(llvm::Function* function, bool is_worth_time) {
  function->setDoesNotThrow();
  if (!is_worth_time) {
    function->addFnAttr(llvm::Attribute::OptimizeNone);
    function->addFnAttr(llvm::Attribute::NoInline);  // LLVM wants both
  }
  function->addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  const std::string bits = std::to_string(target_.vector_bytes * 8);
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
}

void Emitter::emit_entry() {
  llvm::Function* function = llvm::Function::Create(entry_type(), llvm::Function::ExternalLinkage, symbol_, module_);
  begin_function(function, kernel_.body, false);
  emit_block(kernel_.body);
  builder_.CreateRet(builder_.getInt32(0));
}

// Entry block: what belongs to the whole function, then a jump to the code proper.
void Emitter::begin_function(llvm::Function* function, const Block& body, bool repeats) {
  set_attributes(function, takes_time(body, repeats));
  function_ = Function{};
  function_.function = function;
  function_.context = function->getArg(0);
  function_.buffers = function->getArg(1);
  function_.dims = function->getArg(2);
  function_.pointers.assign(kernel_.buffers.size(), nullptr);
  function_.values.assign(kernel_.types.size(), std::nullopt);
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(module_.getContext(), "entry", function);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(module_.getContext(), "start", function);
  builder_.SetInsertPoint(entry);
  function_.entry_end = builder_.CreateBr(start);
  builder_.SetInsertPoint(start);
}

llvm::BasicBlock* Emitter::new_block(const char* name) {
  llvm::BasicBlock* const block = llvm::BasicBlock::Create(module_.getContext(), name, function_.function);
  if (is_vector_loop()) {
    for (Around& loop : vector_->around) loop.blocks.insert(block);
  }
  return block;
}

llvm::Value* Emitter::at_entry(const std::function<llvm::Value*()>& make) {
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(function_.entry_end);
  return make();
}

llvm::AllocaInst* Emitter::scratch(llvm::Type* type) {
  return llvm::cast<llvm::AllocaInst>(at_entry([&] { return builder_.CreateAlloca(type); }));
}

void Emitter::emit_block(const Block& block) {
  for (const Instruction& instruction : block) emit(instruction);
}

void Emitter::emit(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::Constant:
    case Op::Size: return;  // made where used: see get()
    case Op::Load: return set(instruction.results[0], emit_load(instruction));
    case Op::Store: return emit_store(instruction);
    case Op::For:
      if (instruction.kind == LoopKind::Parallel) return emit_parallel(instruction);
      if (instruction.kind == LoopKind::Vector) return emit_vector(instruction);
      if (instruction.kind == LoopKind::Serial) return emit_serial(instruction);
      throw InternalError(fmt::format("codegen: kernel {} is not cut for a target", kernel_.name));
    case Op::Reduce: return emit_reduce(instruction);
    case Op::If: return emit_if(instruction);
    case Op::Call: return emit_call(instruction);
    default: return set(instruction.results[0], emit_scalar_op(instruction));
  }
}

// Conditions are the same in every lane; lanes that differ use Select.
void Emitter::emit_if(const Instruction& instruction) {
  llvm::Value* const condition = scalar(instruction.args[0]);
  if (is_vector_loop()) flush_stores();
  llvm::BasicBlock *const then = new_block("then"), *const otherwise = new_block("else"), *const join = new_block("join");
  builder_.CreateCondBr(condition, then, otherwise);
  const auto branch = [&](llvm::BasicBlock* block, const Block& body) {
    builder_.SetInsertPoint(block);
    emit_block(body);
    if (is_vector_loop()) flush_stores();
    builder_.CreateBr(join);
  };
  branch(then, instruction.body);
  branch(otherwise, instruction.otherwise);
  builder_.SetInsertPoint(join);
}

void Emitter::emit_call(const Instruction& call) {
  const loop::ExternFunction routine = externs_ != nullptr ? externs_(call.name) : nullptr;
  if (routine == nullptr) throw InternalError(fmt::format("codegen: kernel {} calls an unknown routine: {}", kernel_.name, call.name));
  const size_t buffers = call.buffers.size(), integers = call.args.size() - buffers;
  llvm::Type *const pointer_type = builder_.getPtrTy(), *const integer_type = builder_.getInt64Ty();
  llvm::Value* const pointers = scratch(llvm::ArrayType::get(pointer_type, buffers));
  llvm::Value* const numbers = scratch(llvm::ArrayType::get(integer_type, integers));
  for (size_t i = 0; i < buffers; ++i) {
    builder_.CreateStore(address(call.buffers[i], scalar(call.args[i])), builder_.CreateConstInBoundsGEP1_64(pointer_type, pointers, i));
  }
  for (size_t i = 0; i < integers; ++i) {
    builder_.CreateStore(scalar(call.args[buffers + i]), builder_.CreateConstInBoundsGEP1_64(integer_type, numbers, i));
  }
  const llvm::FunctionCallee target = module_.getOrInsertFunction(fmt::format("{}{}", routine_prefix, call.name), entry_type());
  return_if_failed(builder_.CreateCall(target, {function_.context, pointers, numbers}));
}

void Emitter::return_if_failed(llvm::Value* code) {
  llvm::BasicBlock *failed = new_block("failed"), *next = new_block("next");
  builder_.CreateCondBr(builder_.CreateIsNull(code), next, failed);
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(code);
  builder_.SetInsertPoint(next);
}

}  // namespace anyshape::codegen
