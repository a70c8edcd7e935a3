// Prints kernels as text that loop/parse.cpp reads back. A value used once, nearby, is written where it is used; all others get a name.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loop/rules.h"
#include "loop/text.h"
#include "loop/tokens.h"

namespace anyshape::loop {
namespace {

constexpr int primary = 9;  // binds tighter than every operator
constexpr int unary_level = 8;
constexpr int largest_inlined = 5;  // instructions in a subexpression; a longer one gets a name

struct Operator {
  std::string_view symbol;
  int level;
};

Operator operator_of(Op op) {
  switch (op) {
    case Op::Equal: return {"==", 1};
    case Op::NotEqual: return {"!=", 1};
    case Op::Less: return {"<", 1};
    case Op::LessEqual: return {"<=", 1};
    case Op::Or: return {"|", 2};
    case Op::Xor: return {"^", 3};
    case Op::And: return {"&", 4};
    case Op::ShiftLeft: return {"<<", 5};
    case Op::ShiftRight: return {">>", 5};
    case Op::ShiftRightLogical: return {">>>", 5};
    case Op::Add: return {"+", 6};
    case Op::Subtract: return {"-", 6};
    case Op::Multiply: return {"*", 7};
    case Op::Divide: return {"/", 7};
    case Op::FloorDivide: return {"//", 7};
    case Op::Modulo: return {"%", 7};
    default: return {"", primary};
  }
}

std::string_view function_of(Op op) {
  switch (op) {
    case Op::Minimum: return "min";
    case Op::Maximum: return "max";
    case Op::Fma: return "fma";
    case Op::Absolute: return "abs";
    case Op::SquareRoot: return "sqrt";
    case Op::Floor: return "floor";
    case Op::Ceil: return "ceil";
    case Op::Truncate: return "trunc";
    case Op::Round: return "round";
    case Op::Select: return "select";
    default: return "";
  }
}

// A number as it stands beside an operand that gives it its type.
std::string plain_number(const Instruction& constant) {
  if (constant.type == Dtype::b8) return constant.integer != 0 ? "true" : "false";
  if (!is_floating(constant.type)) return fmt::format("{}", constant.integer);
  if (std::isnan(constant.number)) return "nan";
  std::string text =
      constant.type == Dtype::f32 ? fmt::format("{}", static_cast<float>(constant.number)) : fmt::format("{}", constant.number);
  const bool whole = text.find_first_of(".einf") == std::string::npos;
  return whole ? text + ".0" : text;
}

// A number that says its own type.
std::string typed_number(const Instruction& constant) {
  const std::string text = plain_number(constant);
  if (constant.type == Dtype::b8 || constant.type == Dtype::i64) return text;
  if (constant.type == Dtype::f32 && std::isfinite(constant.number)) return text + "f";
  return fmt::format("{}({})", to_string(constant.type), text);
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), values_(kernel.types.size()), taken_(kernel.dims.begin(), kernel.dims.end()) {}

  std::string run() {
    study(kernel_.body);
    std::string dims;
    for (const std::string& dim : kernel_.dims) dims += (dims.empty() ? "" : ", ") + quoted_if_needed(dim);
    line(fmt::format("kernel {}({}) {{", quoted_if_needed(kernel_.name), dims));
    ++indent_;
    for (const Buffer& buffer : kernel_.buffers) {
      constexpr std::string_view access[] = {"in", "out", "inout", "own"};
      line(fmt::format("{} {}: {}", access[static_cast<size_t>(buffer.access)], quoted_if_needed(buffer.name), to_string(buffer.type)));
    }
    statements(kernel_.body);
    --indent_;
    line("}");
    return std::move(text_);
  }

 private:
  struct Seen {
    const Instruction* definition = nullptr;  // of values with one result
    const Block* block = nullptr;             // that defines it
    const Block* user = nullptr;              // the block of its last use
    int uses = 0;
    int size = 1;  // instructions printed where this one is
    bool inlined = false;
    std::string name;
  };

  Seen& seen(Value value) { return values_[static_cast<size_t>(value.id)]; }

  void use(Value value, const Block& block) {
    ++seen(value).uses;
    seen(value).user = &block;
  }

  void study(const Block& block) {
    count(block);
    decide(block);
  }

  void count(const Block& block) {
    for (const Instruction& instruction : block) {
      for (Value value : instruction.args) use(value, block);
      if (instruction.grain) use(instruction.grain, block);
      for (Value value : instruction.yields) use(value, instruction.body);
      count(instruction.body);
      count(instruction.otherwise);
      for (Value value : instruction.results) seen(value).block = &block;
    }
  }

  // What is inlined depends on the expression's structure only, never on the order of instructions, so that reading back decides the same.
  void decide(const Block& block) {
    for (const Instruction& instruction : block) {
      decide(instruction.body);
      decide(instruction.otherwise);
      const bool leaf = instruction.op == Op::Constant || instruction.op == Op::Size;
      const bool stable_load = instruction.op == Op::Load && kernel_.buffers[static_cast<size_t>(instruction.buffer)].access == Access::In;
      if (instruction.results.size() != 1 || instruction.op == Op::For || instruction.op == Op::Reduce) continue;
      Seen& value = seen(instruction.results[0]);
      value.definition = &instruction;
      for (Value arg : instruction.args) {
        if (seen(arg).inlined && !is_leaf(arg)) value.size += seen(arg).size;
      }
      const bool once = value.uses == 1 && value.user == value.block && value.size <= largest_inlined;
      value.inlined = leaf || ((is_pure(instruction.op) || stable_load) && once);
    }
  }

  const Instruction* constant(Value value) {
    const Instruction* definition = seen(value).definition;
    return definition != nullptr && definition->op == Op::Constant ? definition : nullptr;
  }
  bool is_leaf(Value value) {
    const Instruction* definition = seen(value).definition;
    return definition != nullptr && (definition->op == Op::Constant || definition->op == Op::Size);
  }

  // Names are numbered in the order of printing, so they do not depend on the numbers of the values.
  const std::string& name(Value value, char prefix = 'v') {
    std::string& name = seen(value).name;
    while (name.empty() || taken_.contains(name)) name = fmt::format("{}{}", prefix, next_name_++);
    return name;
  }

  std::string names(std::span<const Value> values) {
    std::string result;
    for (Value value : values) result += (result.empty() ? "" : ", ") + name(value);
    return result;
  }

  std::string list(std::span<const Value> values) {
    std::string result;
    for (Value value : values) result += (result.empty() ? "" : ", ") + free(value);
    return result;
  }

  // An operand where nothing beside it tells a number its type.
  std::string free(Value value) { return operand(value, 0, true); }

  std::string operand(Value value, int level, bool typed) {
    if (const Instruction* number = constant(value)) return typed ? typed_number(*number) : plain_number(*number);
    if (!seen(value).inlined) return seen(value).name;
    const Instruction& definition = *seen(value).definition;
    const std::string text = expression(definition);
    const int own = definition.op == Op::Negate || definition.op == Op::Not ? unary_level : operator_of(definition.op).level;
    return own < level ? fmt::format("({})", text) : text;
  }

  // Whether all of these are numbers, which then have to say their type.
  bool all_constant(std::span<const Value> values, size_t from) {
    for (size_t i = from; i < values.size(); ++i) {
      if (constant(values[i]) == nullptr) return false;
    }
    return true;
  }

  std::string expression(const Instruction& instruction) {
    const Values& args = instruction.args;
    switch (instruction.op) {
      case Op::Size: return quoted_if_needed(kernel_.dims[static_cast<size_t>(instruction.integer)]);
      case Op::Load: return element(instruction);
      case Op::Negate: return "-" + operand(args[0], unary_level, true);
      case Op::Not: return (instruction.type == Dtype::b8 ? "!" : "~") + operand(args[0], unary_level, true);
      case Op::Cast: return fmt::format("{}({})", to_string(instruction.type), free(args[0]));
      case Op::Bitcast: return fmt::format("bitcast_{}({})", to_string(instruction.type), free(args[0]));
      default: break;
    }
    const std::string_view function = function_of(instruction.op);
    if (!function.empty()) {
      const size_t first = instruction.op == Op::Select ? 1 : 0;
      const bool typed = all_constant(args, first);
      std::string text = first == 1 ? free(args[0]) : "";
      for (size_t i = first; i < args.size(); ++i) text += (i == 0 ? "" : ", ") + operand(args[i], 0, typed);
      return fmt::format("{}({})", function, text);
    }
    const Operator infix = operator_of(instruction.op);
    const bool typed = all_constant(args, 0);
    // Comparisons do not chain, so both of their sides have to bind tighter.
    const int left = infix.level == 1 ? 2 : infix.level;
    return fmt::format("{} {} {}", operand(args[0], left, typed), infix.symbol, operand(args[1], infix.level + 1, typed));
  }

  std::string element(const Instruction& instruction) { return element(instruction.buffer, instruction.args[0]); }
  std::string element(int32_t buffer, Value offset) {
    return fmt::format("{}[{}]", quoted_if_needed(kernel_.buffers[static_cast<size_t>(buffer)].name), free(offset));
  }

  void line(const std::string& text) { text_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + '\n'; }

  void statements(const Block& block) {
    for (const Instruction& instruction : block) statement(instruction);
  }

  void nested(const std::string& head, const Block& block, std::string_view keyword = "", std::span<const Value> yields = {}) {
    line(head + " {");
    ++indent_;
    statements(block);
    if (!yields.empty()) line(fmt::format("{} {}", keyword, list(yields)));
    --indent_;
  }

  void statement(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::Store: line(fmt::format("{} = {}", element(instruction), operand(instruction.args[1], 0, false))); return;
      case Op::For: return loop(instruction);
      case Op::Reduce: return reduce(instruction);
      case Op::If: return branch(instruction);
      case Op::Call: return call(instruction);
      default: break;
    }
    if (seen(instruction.results[0]).inlined) return;
    const std::string right = expression(instruction);
    line(fmt::format("{} = {}", name(instruction.results[0]), right));
  }

  std::string range(const Instruction& loop) { return fmt::format("{} .. {}", free(loop.args[0]), free(loop.args[1])); }

  void loop(const Instruction& loop) {
    constexpr std::string_view kinds[] = {"for", "each", "ranges", "runs", "elements", "parallel", "vector"};
    if (loop.kind == LoopKind::Ranges || loop.kind == LoopKind::Runs) return in_ranges(loop);
    const std::string bounds = range(loop);
    if (loop.kind == LoopKind::Each) {
      const std::string work = free(loop.args[2]);
      nested(fmt::format("each {} in {} work {}", name(loop.index, 'i'), bounds, work), loop.body);
      return line("}");
    }
    std::string grain = loop.grain ? " grain " + free(loop.grain) : "";
    std::string carry;
    const std::string index = name(loop.index, 'i');
    for (size_t i = 0; i < loop.carried.size(); ++i) {
      const std::string initial = free(loop.args[i + 2]);
      carry += fmt::format("{}{} = {}", carry.empty() ? "" : ", ", name(loop.carried[i], 'c'), initial);
    }
    std::string head =
        fmt::format("{} {} in {}{}{}", kinds[static_cast<size_t>(loop.kind)], index, loop.reverse ? "reverse " : "", bounds, grain);
    if (!carry.empty()) head = fmt::format("{} = {} carry ({})", names(loop.results), head, carry);
    nested(head, loop.body, "next", loop.yields);
    line("}");
  }

  void in_ranges(const Instruction& loop) {
    const bool in_order = loop.kind == LoopKind::Runs;
    const std::string bounds = in_order ? "in " + range(loop) : fmt::format("of {}, {}", free(loop.args[0]), free(loop.args[1]));
    const std::string work = free(loop.args[2]), row = in_order ? "" : name(loop.index, 'i') + ", ";
    const std::string begin = name(loop.carried[0], 'i'), end = name(loop.carried[1], 'i');
    const std::string walk = in_order ? "" : fmt::format("{} ", name_of(static_cast<Walk>(loop.integer)));
    nested(fmt::format("{} {}{} .. {} {} {}work {}", in_order ? "runs" : "ranges", row, begin, end, bounds, walk, work), loop.body);
    line("}");
  }

  void reduce(const Instruction& reduce) {
    const std::string bounds = range(reduce);
    std::string combine;
    for (Combine each : reduce.combine) combine += fmt::format("{}{}", combine.empty() ? "" : ", ", name_of(each));
    const std::string results = names(reduce.results);
    nested(fmt::format("{} = reduce {} {} in {}", results, combine, name(reduce.index, 'i'), bounds), reduce.body, "yield", reduce.yields);
    line("}");
  }

  void branch(const Instruction& branch) {
    nested(fmt::format("if {}", free(branch.args[0])), branch.body);
    if (!branch.otherwise.empty()) nested("} else", branch.otherwise);
    line("}");
  }

  void call(const Instruction& call) {
    std::string text;
    for (size_t i = 0; i < call.buffers.size(); ++i) text += (i == 0 ? "" : ", ") + element(call.buffers[i], call.args[i]);
    const std::span<const Value> integers = std::span(call.args).subspan(call.buffers.size());
    if (!integers.empty()) text += "; " + list(integers);
    line(fmt::format("call {}({})", quoted_if_needed(call.name), text));
  }

  const Kernel& kernel_;
  std::vector<Seen> values_;
  std::set<std::string> taken_;
  std::string text_;
  int indent_ = 0;
  int next_name_ = 0;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace anyshape::loop
