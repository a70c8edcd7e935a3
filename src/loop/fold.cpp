// The builder's foldings: instructions on constants, and integer identities. A float identity is used only where it is exact for every
// input.
#include "base/float_state.h"
#include "loop/build.h"
#include "loop/scalar.h"

#include <cmath>

namespace anyshape::loop {

Value Builder::fold(Op op, Dtype type, std::span<const Value> args) {
  InlineVector<Scalar, 4> numbers;
  for (Value arg : args) {
    const Instruction* constant = definition(arg);
    if (constant != nullptr && constant->op == Op::Constant) numbers.push_back(scalar_of(*constant));
  }
  if (numbers.size() == args.size()) {
    Scalar result;
    {
      const FlushDenormals as_when_running;
      result = evaluate(op, type, this->type(op == Op::Select ? args[1] : args[0]), numbers);
    }
    const Instruction constant = constant_of(type, result);
    return is_floating(type) ? this->constant(type, constant.number) : this->constant(type, constant.integer);
  }
  if (op == Op::Select) {
    const Instruction* condition = definition(args[0]);
    if (condition != nullptr) return condition->integer != 0 ? args[1] : args[2];
    return args[1] == args[2] ? args[1] : Value{};
  }
  return args.size() == 2 ? fold_identity(op, args[0], args[1]) : Value{};
}

Value Builder::fold_identity(Op op, Value a, Value b) {
  const Dtype type = this->type(a);
  const Instruction* right = definition(b);
  const bool known = right != nullptr && right->op == Op::Constant;
  if (is_floating(type)) {
    // x * 1, 1 * x, x / 1, x - 0 and x + (-0) keep every x; x + 0 does not: it makes 0 of -0.
    const Instruction* left = definition(a);
    if (op == Op::Multiply && left != nullptr && left->number == 1) return b;
    if (!known) return {};
    const bool zero = right->number == 0;
    const bool negative = std::signbit(right->number);
    if ((op == Op::Multiply || op == Op::Divide) && right->number == 1) return a;
    if ((op == Op::Subtract && zero && !negative) || (op == Op::Add && zero && negative)) return a;
    return {};
  }
  if (a == b) {
    if (op == Op::Subtract || op == Op::Xor) return constant(type, int64_t{0});
    if (op == Op::And || op == Op::Or || op == Op::Minimum || op == Op::Maximum) return a;
  }
  if (!known) return {};
  const int64_t number = right->integer;
  if (number == 0) {
    if (op == Op::Add || op == Op::Subtract || op == Op::Or || op == Op::Xor) return a;
    if (op == Op::ShiftLeft || op == Op::ShiftRight || op == Op::ShiftRightLogical) return a;
    if (op == Op::Multiply || op == Op::And || op == Op::FloorDivide || op == Op::Modulo) return b;
  }
  if (number == 1) {
    if (op == Op::Multiply || op == Op::FloorDivide) return a;
    if (op == Op::Modulo) return constant(type, int64_t{0});
    if (type == Dtype::b8 && op == Op::And) return a;
    if (type == Dtype::b8 && op == Op::Or) return b;
  }
  if (op == Op::Add) {
    // (x + 2) + 3 is x + 5: offsets are built from such sums.
    const auto sum = sums_.find(a.id);
    if (sum != sums_.end()) return add(sum->second.first, add(sum->second.second, b));
  }
  return {};
}

}  // namespace anyshape::loop
