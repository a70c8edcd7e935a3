// Parallel loops: the body becomes a function of its own that the pool calls for parts of the range. What the body uses of the enclosing
// function travels in a frame of 8-byte words.
#include "codegen/emitter.h"

#include <fmt/format.h>

#include <cstddef>

#include "runtime/cpu/abi.h"

namespace anyshape::codegen {

using loop::Block;
using loop::Instruction;
using loop::Op;
using loop::Value;

namespace {

// Values used in a block but made outside of it, in order of first use. Constants and sizes are made anew instead.
class Captures {
 public:
  explicit Captures(size_t values) : known_(values, false) {}

  void define(Value value) {
    if (value) known_[static_cast<size_t>(value.id)] = true;
  }
  void walk(const Block& block) {
    for (const Instruction& instruction : block) {
      if (instruction.op == Op::Constant || instruction.op == Op::Size) {
        define(instruction.results[0]);
        continue;
      }
      for (const Value arg : instruction.args) use(arg);
      use(instruction.grain);
      define(instruction.index);
      for (const Value carried : instruction.carried) define(carried);
      walk(instruction.body);
      walk(instruction.otherwise);
      for (const Value yielded : instruction.yields) use(yielded);
      for (const Value result : instruction.results) define(result);
    }
  }
  std::vector<Value> take() { return std::move(used_); }

 private:
  void use(Value value) {
    if (!value || known_[static_cast<size_t>(value.id)]) return;
    known_[static_cast<size_t>(value.id)] = true;
    used_.push_back(value);
  }

  std::vector<bool> known_;
  std::vector<Value> used_;
};

}  // namespace

llvm::Value* Emitter::to_frame(Dtype type, llvm::Value* value) {
  llvm::Value* const bits =
      is_floating(type) ? builder_.CreateBitCast(value, builder_.getIntNTy(value->getType()->getScalarSizeInBits())) : value;
  return builder_.CreateZExt(bits, builder_.getInt64Ty());
}

llvm::Value* Emitter::from_frame(Dtype type, llvm::Value* word) {
  llvm::Type* const target = value_type(type);
  llvm::Value* const bits = builder_.CreateTrunc(word, builder_.getIntNTy(target->getScalarSizeInBits()));
  return is_floating(type) ? builder_.CreateBitCast(bits, target) : bits;
}

void Emitter::emit_parallel(const Instruction& loop) {
  Captures captures(kernel_.types.size());
  for (size_t id = 0; id < definitions_.size(); ++id) {
    if (definitions_[id] != nullptr) captures.define(Value{static_cast<int32_t>(id)});
  }
  captures.define(loop.index);
  captures.walk(loop.body);
  const std::vector<Value> captured = captures.take();
  llvm::Function* const body = emit_parallel_body(loop, captured);

  llvm::Value *const begin = scalar(loop.args[0]), *const end = scalar(loop.args[1]), *const grain = scalar(loop.grain);
  llvm::Type *const word = builder_.getInt64Ty(), *const pointer_type = builder_.getPtrTy();
  llvm::Value* const frame = scratch(llvm::ArrayType::get(word, captured.size()));
  for (size_t i = 0; i < captured.size(); ++i) {
    builder_.CreateStore(to_frame(type_of(captured[i]), scalar(captured[i])), builder_.CreateConstInBoundsGEP1_64(word, frame, i));
  }
  llvm::Value* const slot = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_.context, offsetof(AsContext, parallel));
  llvm::Value* const parallel = builder_.CreateLoad(pointer_type, slot);
  llvm::FunctionType* const type = llvm::FunctionType::get(
      builder_.getInt32Ty(), {pointer_type, pointer_type, pointer_type, pointer_type, pointer_type, word, word, word}, false);
  return_if_failed(
      builder_.CreateCall(type, parallel, {function_.context, body, function_.buffers, function_.dims, frame, begin, end, grain}));
}

llvm::Function* Emitter::emit_parallel_body(const Instruction& loop, std::span<const Value> captured) {
  Function outer = std::move(function_);
  llvm::BasicBlock* const resume = builder_.GetInsertBlock();
  llvm::Function* const function =
      llvm::Function::Create(body_type(), llvm::Function::InternalLinkage, fmt::format("{}_part_{}", symbol_, parallel_bodies_++), module_);
  begin_function(function, loop.body, true);
  llvm::Value *const frame = function->getArg(3), *const begin = function->getArg(4), *const end = function->getArg(5);
  for (size_t i = 0; i < captured.size(); ++i) {
    llvm::Type* const word = builder_.getInt64Ty();
    llvm::Value* const loaded = builder_.CreateLoad(word, builder_.CreateConstInBoundsGEP1_64(word, frame, i));
    set(captured[i], Lanes::uniform(from_frame(type_of(captured[i]), loaded)));
  }
  llvm::BasicBlock *const before = builder_.GetInsertBlock(), *const head = new_block("iteration"), *const exit = new_block("part_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), head, exit);
  builder_.SetInsertPoint(head);
  llvm::PHINode* const index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  set(loop.index, Lanes::uniform(index));
  emit_block(loop.body);
  llvm::Value* const next = builder_.CreateAdd(index, builder_.getInt64(1));
  index->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), head, exit);
  builder_.SetInsertPoint(exit);
  builder_.CreateRet(builder_.getInt32(0));
  function_ = std::move(outer);
  builder_.SetInsertPoint(resume);
  return function;
}

}  // namespace anyshape::codegen
