// Conversions between element types, on scalars and vectors alike. Float to integer truncates and saturates; NaN gives 0.
#include "codegen/emitter.h"

#include <llvm/IR/Constants.h>

namespace anyshape::codegen {

llvm::Value* Emitter::cast(Dtype from, Dtype to, llvm::Value* value) {
  if (from == to) return value;
  llvm::Type* const type = like(value_type(to), value);
  if (to == Dtype::b8) {
    return is_floating(from) ? builder_.CreateFCmpUNE(value, float_like(value, 0)) : builder_.CreateIsNotNull(value);
  }
  const bool from_unsigned = from == Dtype::b8 || from == Dtype::u8;
  if (is_floating(from)) {
    if (!is_floating(to)) return float_to_integer(to, value);
    return builder_.CreateFPCast(value, type);
  }
  if (is_floating(to)) return from_unsigned ? builder_.CreateUIToFP(value, type) : builder_.CreateSIToFP(value, type);
  return from_unsigned ? builder_.CreateZExtOrTrunc(value, type) : builder_.CreateSExtOrTrunc(value, type);
}

// Out-of-range lanes are replaced by 0 before the conversion, which would be undefined for them, and by the bound after it. The bounds are
// powers of two, exact in every float type; the lower one of u8 is -1, exclusive, since what lies above it truncates to 0.
llvm::Value* Emitter::float_to_integer(Dtype to, llvm::Value* value) {
  struct Range {
    double low, high;
    int64_t lowest, highest;
  };
  const Range range = to == Dtype::u8    ? Range{-1, 256, 0, 255}
                      : to == Dtype::i32 ? Range{-0x1p31, 0x1p31, INT32_MIN, INT32_MAX}
                                         : Range{-0x1p63, 0x1p63, INT64_MIN, INT64_MAX};
  llvm::Value* const above = builder_.CreateFCmpOGE(value, float_like(value, range.high));
  llvm::Value* const below = builder_.CreateFCmpOLE(value, float_like(value, range.low));
  llvm::Value* const bad = builder_.CreateOr(builder_.CreateOr(above, below), builder_.CreateFCmpUNO(value, value));
  llvm::Value* const safe = builder_.CreateSelect(bad, float_like(value, 0), value);
  llvm::Type* const type = like(value_type(to), value);
  llvm::Type* const wide = to == Dtype::u8 ? like(builder_.getInt32Ty(), value) : type;
  llvm::Value* const converted = builder_.CreateTrunc(builder_.CreateFPToSI(safe, wide), type);
  llvm::Value* const low = builder_.CreateSelect(below, llvm::ConstantInt::get(type, static_cast<uint64_t>(range.lowest), true), converted);
  return builder_.CreateSelect(above, llvm::ConstantInt::get(type, static_cast<uint64_t>(range.highest), true), low);
}

llvm::Value* Emitter::bitcast(Dtype from, Dtype to, llvm::Value* value) {
  if (from == to) return value;
  return from_memory(to, builder_.CreateBitCast(to_memory(from, value), like(memory_type(to), value)));
}

}  // namespace anyshape::codegen
