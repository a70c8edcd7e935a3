// Type rules of the loop instructions; see loop/ir.h for what each instruction means.
#include "loop/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::loop {
namespace {

bool has_arithmetic(Dtype type) { return type != Dtype::f16 && type != Dtype::bf16; }

size_t operand_count(Op op) {
  if (op == Op::Fma || op == Op::Select) return 3;
  const bool unary = (op >= Op::Negate && op <= Op::Round) || op == Op::Not || op == Op::Cast || op == Op::Bitcast;
  return unary ? 1 : 2;
}

// The types an instruction of one operand type takes, in words; empty where `type` is one of them.
std::string_view refused_operand(Op op, Dtype type) {
  const bool number = is_integer(type) || is_floating(type);
  switch (op) {
    case Op::Divide:
    case Op::Fma:
    case Op::SquareRoot:
    case Op::Floor:
    case Op::Ceil:
    case Op::Truncate:
    case Op::Round: return is_floating(type) ? "" : "floats";
    case Op::FloorDivide:
    case Op::Modulo:
    case Op::ShiftLeft:
    case Op::ShiftRight:
    case Op::ShiftRightLogical: return is_integer(type) ? "" : "integers";
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not: return is_floating(type) ? "integers or b8" : "";
    case Op::Equal:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual: return "";
    default: return number ? "" : "numbers";
  }
}

}  // namespace

std::string_view name_of(Op op) {
  static constexpr std::string_view names[] = {
      "Constant", "Size",     "Load",    "Store",     "Add",    "Subtract", "Multiply",   "Divide",     "FloorDivide",
      "Modulo",   "Minimum",  "Maximum", "Fma",       "Negate", "Absolute", "SquareRoot", "Floor",      "Ceil",
      "Truncate", "Round",    "And",     "Or",        "Xor",    "Not",      "ShiftLeft",  "ShiftRight", "ShiftRightLogical",
      "Equal",    "NotEqual", "Less",    "LessEqual", "Select", "Cast",     "Bitcast",    "For",        "Reduce",
      "If",       "Call"};
  static_assert(std::size(names) == static_cast<size_t>(Op::Call) + 1);
  return names[static_cast<size_t>(op)];
}

std::string_view name_of(LoopKind kind) {
  static constexpr std::string_view names[] = {"Serial", "Each", "Ranges", "Runs", "Elements", "Parallel", "Vector"};
  return names[static_cast<size_t>(kind)];
}

std::string_view name_of(Walk walk) {
  static constexpr std::string_view names[] = {"once", "lines", "sums", "scattered"};
  return names[static_cast<size_t>(walk)];
}

std::string_view name_of(Combine combine) {
  static constexpr std::string_view names[] = {"sum", "sum_to", "product", "max", "min", "all", "any"};
  return names[static_cast<size_t>(combine)];
}

std::string broken_rule(Op op, Dtype result, std::span<const Dtype> args) {
  if (args.size() != operand_count(op)) return fmt::format("{} operands; expected {}", args.size(), operand_count(op));
  for (Dtype type : args) {
    if (!has_arithmetic(type)) return fmt::format("an operand of type {}; expected f32 or f64 in arithmetic", to_string(type));
  }
  if (!has_arithmetic(result)) return fmt::format("a result of type {}; expected f32 or f64 in arithmetic", to_string(result));
  if (op == Op::Cast) return {};
  if (op == Op::Bitcast) {
    if (size_of(result) == size_of(args[0]) && result != Dtype::b8) return {};
    return fmt::format("{} as {}; expected types of equal width, and not to b8", to_string(args[0]), to_string(result));
  }
  std::span<const Dtype> operands = args;
  if (op == Op::Select) {
    if (args[0] != Dtype::b8) return fmt::format("a condition of type {}; expected b8", to_string(args[0]));
    operands = args.subspan(1);
  }
  const Dtype type = operands[0];
  for (Dtype other : operands) {
    if (other != type) return fmt::format("operands of types {} and {}; expected one type", to_string(type), to_string(other));
  }
  const bool comparison = op >= Op::Equal && op <= Op::LessEqual;
  const Dtype expected = comparison ? Dtype::b8 : type;
  if (result != expected) return fmt::format("a result of type {}; expected {}", to_string(result), to_string(expected));
  if (op == Op::Select) return {};
  const std::string_view wanted = refused_operand(op, type);
  if (!wanted.empty()) return fmt::format("operands of type {}; expected {}", to_string(type), wanted);
  return {};
}

std::string broken_rule(Combine combine, Dtype type) {
  const bool logical = combine == Combine::All || combine == Combine::Any;
  const bool number = type != Dtype::b8 && has_arithmetic(type);
  if (logical ? type == Dtype::b8 : number) return {};
  return fmt::format("{} of {}; expected {}", name_of(combine), to_string(type), logical ? "b8" : "integers, f32 or f64");
}

}  // namespace anyshape::loop
