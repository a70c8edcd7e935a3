// Loads and stores. In a vector loop an address with stride 1 is one vector access; other addresses are gathered and scattered. Loads of a
// partial vector may run past the end (see loop::load_slack); stores never do.
#include "codegen/emitter.h"

#include <llvm/IR/Intrinsics.h>

namespace anyshape::codegen {

using loop::Access;
using loop::Instruction;

llvm::Value* Emitter::pointer(int32_t buffer) {
  llvm::Value*& known = function_.pointers[static_cast<size_t>(buffer)];
  if (known == nullptr) {
    known = at_entry([&] {
      llvm::Type* const type = builder_.getPtrTy();
      llvm::LoadInst* load =
          builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(type, function_.buffers, static_cast<uint64_t>(buffer)));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
      return load;
    });
  }
  return known;
}

llvm::Value* Emitter::address(int32_t buffer, llvm::Value* offset) {
  llvm::Type* const type = memory_type(kernel_.buffers[static_cast<size_t>(buffer)].type);
  return builder_.CreateGEP(type, pointer(buffer), offset);
}

// Of lane 0. Where registers are enough, an address behind the fixed offset is kept for all of the loop.
llvm::Value* Emitter::vector_address(int32_t buffer, const Lanes& offset) {
  Around& loop = vector_->around.back();
  llvm::Value* const fixed = is_fixed(offset.value) ? offset.value : offset.fixed;
  if (!loop.keeps_addresses || fixed == nullptr) return address(buffer, offset.value);
  llvm::Value*& known = loop.addresses[{buffer, fixed}];
  if (known == nullptr) known = before_loop([&] { return address(buffer, fixed); });
  if (fixed == offset.value) return known;
  return builder_.CreateGEP(memory_type(kernel_.buffers[static_cast<size_t>(buffer)].type), known, offset.moving);
}

// Nothing writes an In buffer while a kernel runs, so its loads may move over stores and out of loops. Those of an Own buffer stay before the
// stores of their iteration: one of them may write the same element.
llvm::Instruction* Emitter::mark_invariant(int32_t buffer, llvm::Instruction* load) {
  if (kernel_.buffers[static_cast<size_t>(buffer)].access == Access::In) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
  }
  return load;
}

Lanes Emitter::emit_load(const Instruction& instruction) {
  const Lanes offset = get(instruction.args[0]);
  const int32_t buffer = instruction.buffer;
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(buffer)].type;
  if (is_vector_loop() && loop::is_written(kernel_.buffers[static_cast<size_t>(buffer)].access)) flush_stores();
  if (offset.form == Form::Uniform) {
    const llvm::Align alignment(static_cast<uint64_t>(size_of(dtype)));
    llvm::Instruction* load = builder_.CreateAlignedLoad(memory_type(dtype), address(buffer, offset.value), alignment);
    return Lanes::uniform(from_memory(dtype, mark_invariant(buffer, load)));
  }
  const bool whole = offset.form == Form::Affine && offset.stride == 1;
  llvm::Value* const stored = whole ? load_vector(buffer, offset) : gather(buffer, offset);
  return Lanes::varying(from_memory(dtype, stored));
}

llvm::Value* Emitter::load_vector(int32_t buffer, const Lanes& offset) {
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(buffer)].type;
  llvm::Type* const type = llvm::FixedVectorType::get(memory_type(dtype), static_cast<unsigned>(vector_->width));
  return mark_invariant(
      buffer, builder_.CreateAlignedLoad(type, vector_address(buffer, offset), llvm::Align(static_cast<uint64_t>(size_of(dtype)))));
}

// Only lanes that count are read: the others' addresses may lie anywhere.
llvm::Value* Emitter::gather(int32_t buffer, const Lanes& offset) {
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(buffer)].type;
  llvm::Type* const element = memory_type(dtype);
  auto* const type = llvm::FixedVectorType::get(element, static_cast<unsigned>(vector_->width));
  llvm::Constant* const zeros = llvm::Constant::getNullValue(type);
  const llvm::Align alignment(static_cast<uint64_t>(size_of(dtype)));
  if (has_hardware_mask(size_of(dtype))) {
    return mark_invariant(buffer, builder_.CreateMaskedGather(type, address(buffer, spread(offset)), alignment, gather_mask(), zeros));
  }
  llvm::AllocaInst *const offsets = scratch(llvm::FixedVectorType::get(builder_.getInt64Ty(), static_cast<unsigned>(vector_->width))),
                          *const collected = scratch(type);
  builder_.CreateStore(spread(offset), offsets);
  builder_.CreateStore(zeros, collected);
  for_lanes_before_end([&](llvm::Value* lane) {
    llvm::Value* const at = builder_.CreateLoad(builder_.getInt64Ty(), builder_.CreateInBoundsGEP(builder_.getInt64Ty(), offsets, lane));
    llvm::Value* const loaded = builder_.CreateAlignedLoad(element, address(buffer, at), alignment);
    builder_.CreateStore(loaded, builder_.CreateInBoundsGEP(element, collected, lane));
  });
  return builder_.CreateLoad(type, collected);
}

void Emitter::emit_store(const Instruction& instruction) {
  const Lanes offset = get(instruction.args[0]), value = get(instruction.args[1]);
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(instruction.buffer)].type;
  if (!is_vector_loop()) {
    builder_.CreateAlignedStore(to_memory(dtype, value.value), address(instruction.buffer, offset.value),
                                llvm::Align(static_cast<uint64_t>(size_of(dtype))));
    return;
  }
  llvm::Value* const stored = to_memory(dtype, spread(value));
  if (offset.form == Form::Affine && offset.stride == 1) {
    vector_->pending.push_back({instruction.buffer, offset, stored});
    return;
  }
  flush_stores();
  scatter(instruction.buffer, offset, stored);
}

void Emitter::scatter(int32_t buffer, const Lanes& offset, llvm::Value* stored) {
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(buffer)].type;
  llvm::Type* const element = memory_type(dtype);
  const llvm::Align alignment(static_cast<uint64_t>(size_of(dtype)));
  if (has_hardware_mask(size_of(dtype))) {
    builder_.CreateMaskedScatter(stored, address(buffer, spread(offset)), alignment, gather_mask());
    return;
  }
  llvm::AllocaInst *const offsets = scratch(llvm::FixedVectorType::get(builder_.getInt64Ty(), static_cast<unsigned>(vector_->width))),
                          *const values = scratch(stored->getType());
  builder_.CreateStore(spread(offset), offsets);
  builder_.CreateStore(stored, values);
  for_lanes_before_end([&](llvm::Value* lane) {
    llvm::Value* const at = builder_.CreateLoad(builder_.getInt64Ty(), builder_.CreateInBoundsGEP(builder_.getInt64Ty(), offsets, lane));
    llvm::Value* const one = builder_.CreateLoad(element, builder_.CreateInBoundsGEP(element, values, lane));
    builder_.CreateAlignedStore(one, address(buffer, at), alignment);
  });
}

// One lane after the other: small code for what the processor cannot do in lanes.
void Emitter::for_lanes_before_end(const std::function<void(llvm::Value* lane)>& body) {
  llvm::Value* const width = builder_.getInt64(static_cast<uint64_t>(vector_->width));
  llvm::Value* const count = builder_.CreateSelect(vector_->full, width, vector_->remaining);
  llvm::BasicBlock *const before = builder_.GetInsertBlock(), *const head = new_block("lane"), *const exit = new_block("lanes_done");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* const lane = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  lane->addIncoming(builder_.getInt64(0), before);
  body(lane);
  llvm::Value* const next = builder_.CreateAdd(lane, builder_.getInt64(1));
  lane->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), head, exit);
  builder_.SetInsertPoint(exit);
}

llvm::Value* Emitter::lanes_before_end(int first, int count) {
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  for (int lane = first; lane < first + count; ++lane) lanes.push_back(builder_.getInt32(static_cast<uint32_t>(lane)));
  llvm::Value* const width = builder_.getInt64(static_cast<uint64_t>(vector_->width));
  llvm::Value* const few = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, vector_->remaining, width);
  llvm::Value* const end = builder_.CreateTrunc(few, builder_.getInt32Ty());
  return builder_.CreateICmpULT(llvm::ConstantVector::get(lanes), builder_.CreateVectorSplat(static_cast<unsigned>(count), end));
}

// Made right where `remaining` is known, so that every later use may have it.
llvm::Value* Emitter::gather_mask() {
  if (vector_->mask == nullptr) {
    const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(vector_->remaining->getNextNode());
    vector_->mask = lanes_before_end(0, vector_->width);
  }
  return vector_->mask;
}

// Writes the stores held back, in the middle of a body: before something that may see them.
void Emitter::flush_stores() {
  if (vector_->pending.empty()) return;
  llvm::BasicBlock *const full = new_block("full_block"), *const partial = new_block("partial_block"), *const join = new_block("stored");
  builder_.CreateCondBr(vector_->full, full, partial);
  builder_.SetInsertPoint(full);
  store_pending(false);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(partial);
  store_pending(true);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  vector_->pending.clear();
}

void Emitter::store_pending(bool partial) {
  for (const PendingStore& store : vector_->pending) {
    const Dtype dtype = kernel_.buffers[static_cast<size_t>(store.buffer)].type;
    if (partial) {
      store_partial(store);
    } else {
      builder_.CreateAlignedStore(store.value, vector_address(store.buffer, store.offset),
                                  llvm::Align(static_cast<uint64_t>(size_of(dtype))));
    }
  }
}

void Emitter::store_partial(const PendingStore& store) {
  const Dtype dtype = kernel_.buffers[static_cast<size_t>(store.buffer)].type;
  const llvm::Align alignment(static_cast<uint64_t>(size_of(dtype)));
  if (target_.has_masked_store && size_of(dtype) >= 4) {
    // A mask of its own, here in the rarely taken path: one shared with the body would be computed for every vector.
    builder_.CreateMaskedStore(store.value, vector_address(store.buffer, store.offset), alignment, lanes_before_end(0, vector_->width));
    return;
  }
  llvm::Type* const element = memory_type(dtype);
  llvm::AllocaInst* const values = scratch(store.value->getType());
  builder_.CreateStore(store.value, values);
  for_lanes_before_end([&](llvm::Value* lane) {
    llvm::Value* const one = builder_.CreateLoad(element, builder_.CreateInBoundsGEP(element, values, lane));
    builder_.CreateAlignedStore(one, address(store.buffer, builder_.CreateAdd(store.offset.value, lane)), alignment);
  });
}

}  // namespace anyshape::codegen
