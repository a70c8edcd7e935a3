// Reductions: runs of indices (loop/parts.h), each in 16 logical lanes of one vector per result, filled in index order; lanes of runs are added
// in order, then lanes are combined in a fixed tree. The order of operations is the same for every vector width, so bits are the same on
// every machine.
#include "codegen/emitter.h"
#include "loop/parts.h"

#include <anyshape/error.h>
#include <llvm/IR/Constants.h>

#include <numeric>

namespace anyshape::codegen {

using loop::Combine;
using loop::Instruction;

namespace {

llvm::SmallVector<int, 16> range(int begin, int count) {
  llvm::SmallVector<int, 16> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

llvm::Constant* in_lanes(llvm::Constant* value) { return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(loop::lanes), value); }

}  // namespace

llvm::Constant* Emitter::identity(Combine how, Dtype type) {
  llvm::Type* const element = value_type(type);
  const unsigned bits = element->getScalarSizeInBits();
  const bool is_unsigned = type == Dtype::u8;
  switch (how) {
    case Combine::Sum: return llvm::Constant::getNullValue(element);
    case Combine::SumTo: return is_floating(type) ? llvm::ConstantFP::getNegativeZero(element) : llvm::Constant::getNullValue(element);
    case Combine::Product: return is_floating(type) ? llvm::ConstantFP::get(element, 1.0) : llvm::ConstantInt::get(element, 1);
    case Combine::Maximum:
      if (is_floating(type)) return llvm::ConstantFP::getInfinity(element, true);
      return llvm::ConstantInt::get(element, is_unsigned ? llvm::APInt::getMinValue(bits) : llvm::APInt::getSignedMinValue(bits));
    case Combine::Minimum:
      if (is_floating(type)) return llvm::ConstantFP::getInfinity(element, false);
      return llvm::ConstantInt::get(element, is_unsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits));
    case Combine::All: return builder_.getTrue();
    case Combine::Any: return builder_.getFalse();
  }
  throw InternalError("codegen: unknown way to combine");
}

llvm::Constant* Emitter::of_nothing(Combine how, Dtype type) { return identity(how == Combine::SumTo ? Combine::Sum : how, type); }

llvm::Value* Emitter::combine(Combine how, Dtype type, llvm::Value* a, llvm::Value* b) {
  switch (how) {
    case Combine::Sum:
    case Combine::SumTo: return is_floating(type) ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case Combine::Product: return is_floating(type) ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case Combine::Maximum:
    case Combine::Minimum: {
      const bool greatest = how == Combine::Maximum;
      if (!is_floating(type)) return extreme(greatest ? loop::Op::Maximum : loop::Op::Minimum, type, a, b);
      // One instruction of the processor, and a select for a NaN in b that does not wait for a, which comes around the loop.
      llvm::Value* const further = greatest ? builder_.CreateFCmpOGT(b, a) : builder_.CreateFCmpOLT(b, a);
      return builder_.CreateSelect(builder_.CreateFCmpORD(b, b), builder_.CreateSelect(further, b, a), b);
    }
    case Combine::All: return builder_.CreateAnd(a, b);
    case Combine::Any: return builder_.CreateOr(a, b);
  }
  throw InternalError("codegen: unknown way to combine");
}

// Lanes past the end keep what they have: adding an identity would turn -0 into 0.
llvm::Value* Emitter::combine_vector(Combine how, Dtype type, llvm::Value* accumulator, llvm::Value* contribution, bool partial) {
  for (int first = 0; first < vector_->width; first += loop::lanes) {
    llvm::Value* const part =
        vector_->width == loop::lanes ? contribution : builder_.CreateShuffleVector(contribution, range(first, loop::lanes));
    llvm::Value* const combined = combine(how, type, accumulator, part);
    if (!partial) {
      accumulator = combined;
      continue;
    }
    accumulator = builder_.CreateSelect(lanes_before_end(first, loop::lanes), combined, accumulator);
  }
  return accumulator;
}

llvm::Value* Emitter::combine_lanes(Combine how, Dtype type, llvm::Value* accumulator) {
  for (int half = loop::lanes / 2; half >= 1; half /= 2) {
    llvm::Value* const low = builder_.CreateShuffleVector(accumulator, range(0, half));
    llvm::Value* const high = builder_.CreateShuffleVector(accumulator, range(half, half));
    accumulator = combine(how, type, low, high);
  }
  return builder_.CreateExtractElement(accumulator, builder_.getInt64(0));
}

// The lanes of the indices of one run, at `blocks.exit`.
llvm::SmallVector<llvm::Value*, 4> Emitter::reduce_run(const Instruction& loop, llvm::Value* begin, llvm::Value* end, LoopBlocks blocks) {
  const size_t count = loop.results.size();
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  blocks = begin_vectors(loop, begin, end, blocks, loop::lanes);
  llvm::SmallVector<llvm::PHINode*, 4> accumulators;
  llvm::SmallVector<llvm::PHINode*, 4> finals;
  for (size_t i = 0; i < count; ++i) {
    llvm::Constant* const start = in_lanes(identity(loop.combine[i], type_of(loop.results[i])));
    accumulators.push_back(builder_.CreatePHI(start->getType(), 2));
    accumulators[i]->addIncoming(start, before);
    finals.push_back(llvm::PHINode::Create(start->getType(), 2, "", blocks.exit));
  }
  begin_body(blocks);
  emit_block(loop.body);
  llvm::SmallVector<llvm::Value*, 4> contributions;
  for (size_t i = 0; i < count; ++i) contributions.push_back(spread(get(loop.yields[i])));
  builder_.CreateCondBr(vector_->full, blocks.full, blocks.partial);

  const auto finish = [&](llvm::BasicBlock* block, bool partial) {
    builder_.SetInsertPoint(block);
    store_pending(partial);
    llvm::SmallVector<llvm::Value*, 4> combined;
    for (size_t i = 0; i < count; ++i) {
      combined.push_back(combine_vector(loop.combine[i], type_of(loop.results[i]), accumulators[i], contributions[i], partial));
    }
    llvm::BasicBlock* const last = builder_.GetInsertBlock();
    for (size_t i = 0; i < count; ++i) {
      if (!partial) accumulators[i]->addIncoming(combined[i], last);
      finals[i]->addIncoming(combined[i], last);
    }
  };
  finish(blocks.full, false);
  end_full_block(blocks);
  finish(blocks.partial, true);
  builder_.CreateBr(blocks.exit);

  builder_.SetInsertPoint(blocks.exit);
  vector_.reset();
  return {finals.begin(), finals.end()};
}

// Lanes of the runs so far begin at what changes no number it is combined with, so that the first run is one like the others.
void Emitter::emit_reduce(const Instruction& loop) {
  const size_t count = loop.results.size();
  llvm::Value *const begin = scalar(loop.args[0]), *const end = scalar(loop.args[1]);
  llvm::BasicBlock *const before = builder_.GetInsertBlock(), *const enter = new_block("enter_runs"), *const run = new_block("run"),
                          *const run_done = new_block("run_done"), *const exit = new_block("runs_done");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), enter, exit);
  builder_.SetInsertPoint(enter);
  builder_.CreateBr(run);

  builder_.SetInsertPoint(run);
  llvm::PHINode* const run_begin = builder_.CreatePHI(begin->getType(), 2);
  run_begin->addIncoming(begin, enter);
  llvm::SmallVector<llvm::PHINode*, 4> so_far;
  for (size_t i = 0; i < count; ++i) {
    const Combine how = loop.combine[i] == Combine::Sum ? Combine::SumTo : loop.combine[i];
    llvm::Constant* const start = in_lanes(identity(how, type_of(loop.results[i])));
    so_far.push_back(builder_.CreatePHI(start->getType(), 2));
    so_far[i]->addIncoming(start, enter);
  }
  llvm::Value* const after = builder_.CreateAdd(run_begin, builder_.getInt64(loop::run_indices));
  llvm::Value* const run_end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end);
  const llvm::SmallVector<llvm::Value*, 4> of_run = reduce_run(loop, run_begin, run_end, {.enter = enter, .exit = run_done});
  llvm::SmallVector<llvm::Value*, 4> sums;
  for (size_t i = 0; i < count; ++i) {
    sums.push_back(combine(loop.combine[i], type_of(loop.results[i]), so_far[i], of_run[i]));
    so_far[i]->addIncoming(sums[i], run_done);
  }
  run_begin->addIncoming(run_end, run_done);
  builder_.CreateCondBr(builder_.CreateICmpSLT(run_end, end), run, exit);

  builder_.SetInsertPoint(exit);
  llvm::SmallVector<llvm::PHINode*, 4> results;
  for (size_t i = 0; i < count; ++i) {
    results.push_back(builder_.CreatePHI(sums[i]->getType(), 2));
    results[i]->addIncoming(in_lanes(of_nothing(loop.combine[i], type_of(loop.results[i]))), before);
    results[i]->addIncoming(sums[i], run_done);
  }
  for (size_t i = 0; i < count; ++i) {
    set(loop.results[i], Lanes::uniform(combine_lanes(loop.combine[i], type_of(loop.results[i]), results[i])));
  }
}

}  // namespace anyshape::codegen
