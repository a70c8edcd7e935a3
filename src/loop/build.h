// Builds kernels: one method per instruction, folding constants and sharing equal pure instructions of a scope on the way.
#pragma once
#include "loop/ir.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace anyshape::loop {

class Builder {
 public:
  explicit Builder(std::string name);

  int32_t buffer(std::string name, Dtype type, Access access);  // declares a parameter and returns its number
  Value size(std::string name);                                 // an integer parameter as a value; the same name gives the same one

  Value constant(Dtype type, double number);
  Value constant(Dtype type, int64_t integer);
  Value integer(int64_t value) { return constant(Dtype::i64, value); }
  Value load(int32_t buffer, Value offset);
  void store(int32_t buffer, Value offset, Value value);

  Value unary(Op op, Value a);            // Negate .. Round, Not
  Value binary(Op op, Value a, Value b);  // Add .. Maximum, And .. ShiftRightLogical, Equal .. LessEqual
  Value fma(Value a, Value b, Value c);
  Value select(Value condition, Value a, Value b);
  Value cast(Value a, Dtype type);
  Value bitcast(Value a, Dtype type);

  Value add(Value a, Value b) { return binary(Op::Add, a, b); }
  Value subtract(Value a, Value b) { return binary(Op::Subtract, a, b); }
  Value multiply(Value a, Value b) { return binary(Op::Multiply, a, b); }
  Value divide(Value a, Value b) { return binary(Op::Divide, a, b); }
  Value floor_divide(Value a, Value b) { return binary(Op::FloorDivide, a, b); }
  Value ceil_divide(Value a, int64_t b) { return floor_divide(add(a, integer(b - 1)), integer(b)); }
  Value minimum(Value a, Value b) { return binary(Op::Minimum, a, b); }
  Value maximum(Value a, Value b) { return binary(Op::Maximum, a, b); }
  Value equal(Value a, Value b) { return binary(Op::Equal, a, b); }
  Value less(Value a, Value b) { return binary(Op::Less, a, b); }

  void parallel_for(Value begin, Value end, Value grain, const std::function<void(Value index)>& body);
  void vector_for(Value begin, Value end, const std::function<void(Value index)>& body);
  void serial_for(Value begin, Value end, const std::function<void(Value index)>& body);
  // Carries values through the loop: the body gets the index and the current values and returns the next ones.
  using CarryBody = std::function<std::vector<Value>(Value index, std::span<const Value> carried)>;
  std::vector<Value> carry_for(Value begin, Value end, std::span<const Value> initial, const CarryBody& body, bool reverse = false);
  using ReduceBody = std::function<std::vector<Value>(Value index)>;
  std::vector<Value> reduce(Value begin, Value end, std::span<const Combine> combine, const ReduceBody& body);
  Value reduce(Value begin, Value end, Combine combine, const std::function<Value(Value index)>& body);
  void if_(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  struct Argument { int32_t buffer; Value offset; };
  void call(std::string name, std::span<const Argument> buffers, std::span<const Value> integers);

  Dtype type(Value value) const;
  const Instruction* definition(Value value) const;  // of a Constant or Size; nullptr for others
  Kernel finish();                                   // verified
};

}  // namespace anyshape::loop
