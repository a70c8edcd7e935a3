// Arithmetic, comparisons and bits, written once for scalars and vectors. No fast-math flag: every instruction means what the loop IR says.
#include "codegen/emitter.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <bit>

namespace anyshape::codegen {

using loop::Instruction;
using loop::Op;

llvm::Type* Emitter::like(llvm::Type* element, llvm::Value* shape) {
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(shape->getType());
  return vector != nullptr ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

llvm::Constant* Emitter::integer_like(llvm::Value* shape, int64_t number) {
  return llvm::ConstantInt::get(shape->getType(), static_cast<uint64_t>(number), true);
}

llvm::Constant* Emitter::float_like(llvm::Value* shape, double number) { return llvm::ConstantFP::get(shape->getType(), number); }

// `type` is that of the operands (for Select of the chosen ones).
llvm::Value* Emitter::arithmetic(const Instruction& instruction, Dtype type, std::span<llvm::Value* const> args) {
  switch (instruction.op) {
    case Op::Select: return builder_.CreateSelect(args[0], args[1], args[2]);
    case Op::Cast: return cast(type, instruction.type, args[0]);
    case Op::Bitcast: return bitcast(type, instruction.type, args[0]);
    case Op::Equal:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual: return compare(instruction.op, type, args[0], args[1]);
    case Op::Minimum:
    case Op::Maximum: return extreme(instruction.op, type, args[0], args[1]);
    default: return is_floating(type) ? float_op(instruction.op, args) : integer_op(instruction.op, type, args);
  }
}

llvm::Value* Emitter::float_op(Op op, std::span<llvm::Value* const> args) {
  const auto unary = [&](llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, args[0]); };
  switch (op) {
    case Op::Add: return builder_.CreateFAdd(args[0], args[1]);
    case Op::Subtract: return builder_.CreateFSub(args[0], args[1]);
    case Op::Multiply: return builder_.CreateFMul(args[0], args[1]);
    case Op::Divide: return builder_.CreateFDiv(args[0], args[1]);
    case Op::Fma: return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {args[0]->getType()}, {args[0], args[1], args[2]});
    case Op::Negate: return builder_.CreateFNeg(args[0]);
    case Op::Absolute: return unary(llvm::Intrinsic::fabs);
    case Op::SquareRoot: return unary(llvm::Intrinsic::sqrt);
    case Op::Floor: return unary(llvm::Intrinsic::floor);
    case Op::Ceil: return unary(llvm::Intrinsic::ceil);
    case Op::Truncate: return unary(llvm::Intrinsic::trunc);
    case Op::Round: return unary(llvm::Intrinsic::roundeven);
    default: throw InternalError(fmt::format("codegen: kernel {}: op {} on floats", kernel_.name, static_cast<int>(op)));
  }
}

llvm::Value* Emitter::integer_op(Op op, Dtype type, std::span<llvm::Value* const> args) {
  switch (op) {
    case Op::Add: return builder_.CreateAdd(args[0], args[1]);
    case Op::Subtract: return builder_.CreateSub(args[0], args[1]);
    case Op::Multiply: return builder_.CreateMul(args[0], args[1]);
    case Op::FloorDivide:
    case Op::Modulo: return floor_divide(op, type, args[0], args[1]);
    case Op::Negate: return builder_.CreateNeg(args[0]);
    case Op::Absolute:
      return type == Dtype::u8 || type == Dtype::b8 ? args[0]
                                                    : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], builder_.getFalse());
    case Op::And: return builder_.CreateAnd(args[0], args[1]);
    case Op::Or: return builder_.CreateOr(args[0], args[1]);
    case Op::Xor: return builder_.CreateXor(args[0], args[1]);
    case Op::Not: return builder_.CreateNot(args[0]);
    case Op::ShiftLeft:
    case Op::ShiftRight:
    case Op::ShiftRightLogical: return shift(op, type, args[0], args[1]);
    default: throw InternalError(fmt::format("codegen: kernel {}: op {} on integers", kernel_.name, static_cast<int>(op)));
  }
}

// Two comparisons and a choice of bits: the processor's own minimum gives the wrong operand for NaN and flushes a denormal it chooses.
llvm::Value* Emitter::extreme(Op op, Dtype type, llvm::Value* a, llvm::Value* b) {
  const bool smallest = op == Op::Minimum;
  if (is_floating(type)) {
    llvm::Value* const first = smallest ? builder_.CreateFCmpUGE(b, a) : builder_.CreateFCmpULE(b, a);
    return builder_.CreateSelect(builder_.CreateAnd(first, builder_.CreateFCmpORD(b, b)), a, b);
  }
  const bool is_unsigned = type == Dtype::u8 || type == Dtype::b8;
  const llvm::Intrinsic::ID id = smallest ? (is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin)
                                          : (is_unsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax);
  return builder_.CreateBinaryIntrinsic(id, a, b);
}

llvm::Value* Emitter::compare(Op op, Dtype type, llvm::Value* a, llvm::Value* b) {
  if (is_floating(type)) {
    switch (op) {
      case Op::Equal: return builder_.CreateFCmpOEQ(a, b);
      case Op::NotEqual: return builder_.CreateFCmpUNE(a, b);
      case Op::Less: return builder_.CreateFCmpOLT(a, b);
      default: return builder_.CreateFCmpOLE(a, b);
    }
  }
  const bool is_unsigned = type == Dtype::u8 || type == Dtype::b8;
  switch (op) {
    case Op::Equal: return builder_.CreateICmpEQ(a, b);
    case Op::NotEqual: return builder_.CreateICmpNE(a, b);
    case Op::Less: return is_unsigned ? builder_.CreateICmpULT(a, b) : builder_.CreateICmpSLT(a, b);
    default: return is_unsigned ? builder_.CreateICmpULE(a, b) : builder_.CreateICmpSLE(a, b);
  }
}

// Rounded towards zero, for divisors other than 0 and -1. Vectors of i32 go through f64, where the quotient's integer part is exact: the
// processor has no integer division of vectors.
llvm::Value* Emitter::quotient(Dtype type, llvm::Value* a, llvm::Value* b) {
  if (type == Dtype::i64 || !a->getType()->isVectorTy()) return builder_.CreateSDiv(a, b);
  llvm::Type* const wide = like(builder_.getDoubleTy(), a);
  return builder_.CreateFPToSI(builder_.CreateFDiv(builder_.CreateSIToFP(a, wide), builder_.CreateSIToFP(b, wide)), a->getType());
}

// Divisors 0 and -1 are replaced before dividing, since the processor would trap; their results are put in after.
llvm::Value* Emitter::floor_divide(Op op, Dtype type, llvm::Value* a, llvm::Value* b) {
  if (type == Dtype::u8) {
    llvm::Type* const wide = like(builder_.getInt32Ty(), a);
    return builder_.CreateTrunc(floor_divide(op, Dtype::i32, builder_.CreateZExt(a, wide), builder_.CreateZExt(b, wide)), a->getType());
  }
  const llvm::APInt* number = nullptr;
  if (llvm::PatternMatch::match(b, llvm::PatternMatch::m_APInt(number)) && number->isStrictlyPositive())
    return divide_by_number(op, type, a, number->getSExtValue());
  llvm::Constant *const zero = integer_like(b, 0), *const one = integer_like(b, 1);
  llvm::Value *const by_zero = builder_.CreateICmpEQ(b, zero), *const by_minus = builder_.CreateICmpEQ(b, integer_like(b, -1));
  llvm::Value* const divisor = builder_.CreateSelect(builder_.CreateOr(by_zero, by_minus), one, b);
  llvm::Value* const truncated = quotient(type, a, divisor);
  llvm::Value* const rest = builder_.CreateSub(a, builder_.CreateMul(truncated, divisor));
  llvm::Value* const apart =
      builder_.CreateAnd(builder_.CreateICmpNE(rest, zero), builder_.CreateICmpSLT(builder_.CreateXor(rest, divisor), zero));
  if (op == Op::Modulo) return builder_.CreateSelect(apart, builder_.CreateAdd(rest, divisor), rest);  // by 0 and -1: the rest by 1 is 0
  llvm::Value* const floored = builder_.CreateSelect(apart, builder_.CreateSub(truncated, one), truncated);
  return builder_.CreateSelect(by_zero, zero, builder_.CreateSelect(by_minus, builder_.CreateNeg(a), floored));
}

// By a positive number, which is most of what indices are divided by.
llvm::Value* Emitter::divide_by_number(Op op, Dtype type, llvm::Value* a, int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  if (std::has_single_bit(bits)) {  // a shift rounds down
    return op == Op::Modulo ? builder_.CreateAnd(a, integer_like(a, number - 1))
                            : builder_.CreateAShr(a, integer_like(a, std::countr_zero(bits)));
  }
  llvm::Constant* const divisor = integer_like(a, number);
  llvm::Value* const truncated = quotient(type, a, divisor);
  llvm::Value* const rest = builder_.CreateSub(a, builder_.CreateMul(truncated, divisor));
  llvm::Value* const apart = builder_.CreateICmpSLT(rest, integer_like(a, 0));
  if (op == Op::Modulo) return builder_.CreateSelect(apart, builder_.CreateAdd(rest, divisor), rest);
  return builder_.CreateAdd(truncated, builder_.CreateSExt(apart, a->getType()));
}

llvm::Value* Emitter::shift(Op op, Dtype type, llvm::Value* a, llvm::Value* amount) {
  const int64_t bits = a->getType()->getScalarSizeInBits();
  const llvm::APInt* number = nullptr;
  if (llvm::PatternMatch::match(amount, llvm::PatternMatch::m_APInt(number)) && number->ult(static_cast<uint64_t>(bits))) {
    if (op == Op::ShiftLeft) return builder_.CreateShl(a, amount);
    return op == Op::ShiftRight && type != Dtype::u8 ? builder_.CreateAShr(a, amount) : builder_.CreateLShr(a, amount);
  }
  llvm::Value* const inside = builder_.CreateICmpULT(amount, integer_like(amount, bits));
  if (op == Op::ShiftRight && type != Dtype::u8) {
    return builder_.CreateAShr(a, builder_.CreateSelect(inside, amount, integer_like(amount, bits - 1)));
  }
  llvm::Value* const safe = builder_.CreateSelect(inside, amount, integer_like(amount, 0));
  llvm::Value* const shifted = op == Op::ShiftLeft ? builder_.CreateShl(a, safe) : builder_.CreateLShr(a, safe);
  return builder_.CreateSelect(inside, shifted, integer_like(a, 0));
}

}  // namespace anyshape::codegen
