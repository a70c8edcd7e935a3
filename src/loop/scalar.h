// One value of the loop IR and what every pure instruction does to it. The interpreter runs on these, and the builder folds constants with
// them, so that a folded constant has the bits the machine would have computed.
#pragma once
#include <anyshape/dtype.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "loop/ir.h"

namespace anyshape::loop {

// The bytes of a number, low bytes first, the rest zero: equal numbers of one type have equal bits.
struct Scalar {
  uint64_t bits = 0;

  template <class T>
  static Scalar of(T value) {
    Scalar scalar;
    std::memcpy(&scalar.bits, &value, sizeof(T));
    return scalar;
  }
  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  bool operator==(const Scalar&) const = default;
};

// The value of a Constant instruction, and the Constant that has a value.
Scalar scalar_of(const Instruction& constant);
Instruction constant_of(Dtype type, Scalar value);

// A pure instruction (arithmetic .. Bitcast) on operands of type `operand` (Select: that of its last two), to a result of type `result`.
// The types are taken to be right, and denormals are flushed as far as the caller's floating-point state says so.
Scalar evaluate(Op op, Dtype result, Dtype operand, std::span<const Scalar> args);

Scalar identity(Combine combine, Dtype type);    // what a Reduce starts at
Scalar of_nothing(Combine combine, Dtype type);  // what it gives without an index: that, and 0 where it starts at -0
Scalar combined(Combine combine, Dtype type, Scalar a, Scalar b);

}  // namespace anyshape::loop
