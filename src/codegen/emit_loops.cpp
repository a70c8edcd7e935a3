// Serial loops, which may carry values, and vector loops, whose body is written once for vectors of lanes.
#include "codegen/emitter.h"

#include <algorithm>

namespace anyshape::codegen {

using loop::Instruction;

void Emitter::emit_serial(const Instruction& loop) {
  if (is_vector_loop()) flush_stores();
  llvm::Value *const begin = scalar(loop.args[0]), *const end = scalar(loop.args[1]);
  const auto varies = [&](loop::Value value) { return is_vector_loop() && vector_->varying[static_cast<size_t>(value.id)]; };
  const size_t carried = loop.carried.size();
  llvm::SmallVector<llvm::Value*, 8> initial;
  for (size_t i = 0; i < carried; ++i) {
    const Lanes lanes = get(loop.args[i + 2]);
    initial.push_back(varies(loop.carried[i]) ? spread(lanes) : lanes.value);
  }
  llvm::BasicBlock *const before = builder_.GetInsertBlock(), *const head = new_block("loop"), *const exit = new_block("loop_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), head, exit);

  builder_.SetInsertPoint(head);
  llvm::PHINode* const counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(begin, before);
  llvm::SmallVector<llvm::PHINode*, 8> current;
  for (size_t i = 0; i < carried; ++i) {
    current.push_back(builder_.CreatePHI(initial[i]->getType(), 2));
    current[i]->addIncoming(initial[i], before);
    set(loop.carried[i], varies(loop.carried[i]) ? Lanes::varying(current[i]) : Lanes::uniform(current[i]));
  }
  // Downwards: begin + (end - 1 - counter).
  llvm::Value* index = counter;
  if (loop.reverse) index = builder_.CreateSub(builder_.CreateAdd(begin, builder_.CreateSub(end, builder_.getInt64(1))), counter);
  set(loop.index, Lanes::uniform(index));
  emit_block(loop.body);
  if (is_vector_loop()) flush_stores();
  llvm::SmallVector<llvm::Value*, 8> next;
  for (size_t i = 0; i < carried; ++i) {
    const Lanes lanes = get(loop.yields[i]);
    next.push_back(varies(loop.carried[i]) ? spread(lanes) : lanes.value);
  }
  llvm::Value* const following = builder_.CreateAdd(counter, builder_.getInt64(1));
  llvm::BasicBlock* const last = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(following, end), head, exit);
  counter->addIncoming(following, last);

  builder_.SetInsertPoint(exit);
  for (size_t i = 0; i < carried; ++i) {
    current[i]->addIncoming(next[i], last);
    llvm::PHINode* const result = builder_.CreatePHI(initial[i]->getType(), 2);
    result->addIncoming(initial[i], before);
    result->addIncoming(next[i], last);
    set(loop.results[i], varies(loop.carried[i]) ? Lanes::varying(result) : Lanes::uniform(result));
  }
}

// A loop over vectors of lanes whose body is written once. A vector ends in `full` (go on, or leave after the last) or, if some lanes lie past
// the end, in `partial` (leave): only effects - stores, accumulations - are written twice. The caller adds phis, then calls begin_body().
Emitter::LoopBlocks Emitter::begin_vectors(const Instruction& loop, int least_width) {
  LoopBlocks blocks{};
  llvm::Value* const begin = scalar(loop.args[0]);
  blocks.end = scalar(loop.args[1]);
  blocks.before = builder_.GetInsertBlock();
  blocks.head = new_block("block");
  blocks.full = new_block("full_block");
  blocks.partial = new_block("partial_block");
  blocks.exit = new_block("blocks_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, blocks.end), blocks.head, blocks.exit);
  builder_.SetInsertPoint(blocks.head);
  blocks.index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  blocks.index->addIncoming(begin, blocks.before);

  vector_.emplace(VectorLoop{});
  vector_->varying = find_varying(kernel_, loop);
  vector_->width = std::max(least_width, choose_width(kernel_, loop, vector_->varying, target_.vector_bytes));
  set(loop.index, Lanes::affine(blocks.index, 1));
  return blocks;
}

void Emitter::begin_body(const LoopBlocks& blocks) {
  // An instruction even if both are constants: masks are made right behind it.
  vector_->remaining = builder_.Insert(llvm::BinaryOperator::CreateSub(blocks.end, blocks.index));
  vector_->full = builder_.CreateICmpSGE(vector_->remaining, builder_.getInt64(static_cast<uint64_t>(vector_->width)));
}

void Emitter::end_full_block(const LoopBlocks& blocks) {
  llvm::Value* const next = builder_.CreateAdd(blocks.index, builder_.getInt64(static_cast<uint64_t>(vector_->width)));
  blocks.index->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, blocks.end), blocks.head, blocks.exit);
}

void Emitter::emit_vector(const Instruction& loop) {
  const LoopBlocks blocks = begin_vectors(loop, 1);
  begin_body(blocks);
  emit_block(loop.body);
  builder_.CreateCondBr(vector_->full, blocks.full, blocks.partial);

  builder_.SetInsertPoint(blocks.full);
  store_pending(false);
  end_full_block(blocks);
  builder_.SetInsertPoint(blocks.partial);
  store_pending(true);
  builder_.CreateBr(blocks.exit);
  builder_.SetInsertPoint(blocks.exit);
  vector_.reset();
}

}  // namespace anyshape::codegen
