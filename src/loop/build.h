// Builds kernels: one method per instruction. On the way constants are folded, equal pure instructions and equal loads of In buffers are
// shared within their scope, and a pure instruction moves out of the loops and branches that it does not depend on.
#pragma once
#include "base/spares.h"
#include "loop/ir.h"
#include "loop/routines.h"
#include "loop/shared_values.h"

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace anyshape::loop {

class Builder {
 public:
  explicit Builder(std::string name);

  // Goes on from a finished kernel without its body, whose instructions are taken over one by one, with others in between. `inside` takes over
  // the blocks of the instruction; without it they stay as they are.
  explicit Builder(Kernel kernel);
  using TakeBlock = std::function<void(Block& block)>;
  void take(Instruction&& instruction, const TakeBlock& inside = {});
  Kernel finish_taken();                                                   // what was verified before is not verified again
  Value at_hand(Value value) { return local(value, scopes_.size() - 1); }  // as instructions of the block being written may use it

  int32_t buffer(std::string name, Dtype type, Access access);  // declares a parameter and returns its number
  Value size(std::string name);                                 // an integer parameter as a value; the same name gives the same one

  // f16 and bf16 name what a number is rounded to; the value is an f32. So for constants, casts, and what is loaded and stored.
  Value constant(Dtype type, double number);
  Value constant(Dtype type, int64_t integer);
  Value integer(int64_t value) { return constant(Dtype::i64, value); }
  Value load(int32_t buffer, Value offset);
  void store(int32_t buffer, Value offset, Value value);
  Value load_bits(int32_t buffer, Value offset);  // as the instructions do it: see loaded_as()
  void store_bits(int32_t buffer, Value offset, Value value);

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

  // What is independent of each other: a target cuts these loops. `work`: the elements that an index stands for.
  void each(Value begin, Value end, Value work, const std::function<void(Value index)>& body);
  using RangeBody = std::function<void(Value begin, Value end)>;
  void ranges(Value length, Value work, Walk walk, const RangeBody& body);  // [0, length)
  void ranges(Value rows, Value length, Value work, Walk walk, const std::function<void(Value row, Value begin, Value end)>& body);
  void runs(Value begin, Value end, Value work, const RangeBody& body);
  void elements(Value begin, Value end, const std::function<void(Value index)>& body);
  // The same cut for a CPU.
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
  struct Argument {
    int32_t buffer;
    Value offset;
  };
  void call(std::string name, std::span<const Argument> buffers, std::span<const Value> integers);
  void call(const Routine& routine, std::span<const Argument> buffers, std::span<const Value> integers) {
    call(std::string(routine.name), buffers, integers);
  }

  Dtype type(Value value) const;
  const Instruction* definition(Value value) const;  // of a Constant or Size; nullptr for others
  Kernel finish();                                   // verified

 private:
  // An open block. Constants live in the block that uses them, so that none has to be carried into the body of a parallel loop.
  struct Scope {
    Block block = Spares<Block>::take();
    SharedValues shared;
    std::vector<std::pair<Value, Value>> constants = {};  // a constant -> its twin defined in this block
  };

  Value new_value(Dtype type, size_t depth);
  Value local(Value value, size_t depth);  // the value itself, or a constant's twin in that scope
  Values local(std::span<const Value> values, size_t depth);
  Value pure(Op op, Dtype type, std::span<const Value> args);
  Value fold(Op op, Dtype type, std::span<const Value> args);  // a constant or an existing value that is the result, or none
  Value fold_identity(Op op, Value a, Value b);                // x + 0, x * 1, ...: an existing value, or none
  Value place(Instruction instruction, size_t depth);          // appends an instruction with one result
  Value half(Value bits, Dtype type);                          // the f32 of a half's bits, which are remembered
  Value bits_of_half(Value value, Dtype type);                 // the other way
  Value find_shared(const SharingKey& key) const;
  Value define_constant(Dtype type, uint64_t bits, const Instruction& constant);
  void append(Instruction instruction);
  Block in_scope(const std::function<void()>& body);
  void loop(Instruction instruction, const std::function<void(const Instruction& loop)>& body);
  void loop(LoopKind kind, Value begin, Value end, const std::function<void(Value index)>& body);
  void require_type(Value value, Dtype type, const char* what) const;
  [[noreturn]] void refuse(std::string_view op, std::string_view what) const;

  Kernel kernel_;
  std::vector<Scope> scopes_;
  struct KnownConstant {
    Dtype type;
    uint64_t bits;
    Value value;
  };
  struct Origin {
    uint32_t depth = 0;       // of the scope that defines a value; constants 0
    int32_t definition = -1;  // of Constants and Sizes: which of the definitions
  };
  std::vector<Origin> origins_;          // per value
  std::deque<Instruction> definitions_;  // stay where they are
  std::vector<KnownConstant> constants_;
  std::map<int32_t, std::pair<Dtype, Value>> halves_;  // f32 values that came from the bits of a half
  std::map<int32_t, std::pair<Value, Value>> sums_;    // integer sums whose right side is constant
};

}  // namespace anyshape::loop
