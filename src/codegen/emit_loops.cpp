// Serial loops, which may carry values, and vector loops, whose body is written once for vectors of lanes.
#include "codegen/emitter.h"

#include <algorithm>

namespace anyshape::codegen {

using loop::Instruction;

namespace {

constexpr int most_kept_addresses = 8;  // the processor has 16 registers for integers, some of them are taken

}  // namespace

// LLVM computes what is the same in every iteration in a block that leads to the loop and nowhere else; so do we.
void Emitter::open_loop(const loop::Block& body, llvm::BasicBlock* enter, llvm::BasicBlock* head, llvm::PHINode* counter) {
  Around& loop = vector_->around.emplace_back();
  loop.enter = enter;
  loop.blocks.insert(head);
  loop.keeps_addresses = count_accesses(body) <= most_kept_addresses;
  loop.counter = counter;
}

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
  llvm::BasicBlock *const before = builder_.GetInsertBlock(), *const enter = new_block("enter"), *const head = new_block("loop"),
                          *const exit = new_block("loop_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), enter, exit);
  builder_.SetInsertPoint(enter);
  builder_.CreateBr(head);

  builder_.SetInsertPoint(head);
  llvm::PHINode* const counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(begin, enter);
  llvm::SmallVector<llvm::PHINode*, 8> current;
  for (size_t i = 0; i < carried; ++i) {
    current.push_back(builder_.CreatePHI(initial[i]->getType(), 2));
    current[i]->addIncoming(initial[i], enter);
    set(loop.carried[i], varies(loop.carried[i]) ? Lanes::varying(current[i]) : Lanes::uniform(current[i]));
  }
  if (is_vector_loop()) open_loop(loop.body, enter, head, loop.reverse ? nullptr : counter);
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
  if (is_vector_loop()) {
    for (const auto& [product, number] : vector_->around.back().products)
      product->addIncoming(builder_.CreateAdd(product, number), builder_.GetInsertBlock());
  }
  llvm::BasicBlock* const last = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(following, end), head, exit);
  counter->addIncoming(following, last);
  if (is_vector_loop()) vector_->around.pop_back();

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
// the end, in `partial` (leave): only effects - stores, accumulations - are written twice. There is at least one index. The caller gives `exit`, and
// `enter`, which runs before every iteration and takes what is the same in all of them; it adds phis, then calls begin_body().
Emitter::LoopBlocks Emitter::begin_vectors(const Instruction& loop, llvm::Value* begin, llvm::Value* end, LoopBlocks blocks,
                                           int least_width) {
  blocks.end = end;
  blocks.head = new_block("block");
  blocks.full = new_block("full_block");
  blocks.partial = new_block("partial_block");
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  builder_.CreateBr(blocks.head);
  builder_.SetInsertPoint(blocks.head);
  blocks.index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  blocks.index->addIncoming(begin, before);

  vector_.emplace(VectorLoop{});
  open_loop(loop.body, blocks.enter, blocks.head, nullptr);
  vector_->varying = find_varying(kernel_, loop);
  vector_->width = std::max(least_width, choose_width(kernel_, loop, vector_->varying, target_.vector_bytes));
  set(loop.index, Lanes::affine(blocks.index, 1, nullptr, blocks.index));
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
  llvm::Value *const begin = scalar(loop.args[0]), *const end = scalar(loop.args[1]);
  llvm::BasicBlock *const enter = new_block("enter_blocks"), *const exit = new_block("blocks_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), enter, exit);
  builder_.SetInsertPoint(enter);
  const LoopBlocks blocks = begin_vectors(loop, begin, end, {.enter = enter, .exit = exit}, 1);
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
