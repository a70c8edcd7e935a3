// Building and running the straight-line program. Sums and products follow the order of shape/evaluate.cpp, so both overflow alike.
#include "shape/dim_program.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "shape/normal_form.h"

namespace anyshape {

DimProgram::DimProgram(std::span<const Dim> symbols, std::span<const Dim> late)
    : early_(symbols.size()), symbols_(symbols.begin(), symbols.end()), stages_(1 + late.size()) {
  symbols_.insert(symbols_.end(), late.begin(), late.end());
  wholes_ = symbols_;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (as_symbol(symbols_[i]) == nullptr) throw InternalError(fmt::format("dim program: \"{}\" is no symbol.", to_string(symbols_[i])));
    slots_.emplace(symbols_[i], static_cast<int>(i));
    stage_of_.push_back(i < early_ ? 0 : static_cast<int>(i - early_) + 1);
  }
}

int DimProgram::add(const Dim& dim) {
  const auto found = slots_.find(dim);
  if (found != slots_.end()) return found->second;
  const int slot = dim.is_constant() ? add_instruction({Operation::Constant, 0, 0, dim.value()}, dim) : add_node(dim);
  slots_.emplace(dim, slot);
  return slot;
}

int DimProgram::add_instruction(Instruction instruction, const Dim& dim) {
  instruction.slot = slot_count();
  const int stage = instruction.operation == Operation::Constant ? 0 : std::max(stage_of(instruction.a), stage_of(instruction.b));
  stages_[static_cast<size_t>(stage)].push_back(instruction);
  stage_of_.push_back(stage);
  wholes_.push_back(dim);
  return instruction.slot;
}

int DimProgram::add_node(const Dim& dim) {
  require_size(dim);
  const DimNode& node = *dim.node();
  int sum = -1;
  if (node.constant != 0) sum = add(node.constant);
  for (const Term& term : node.terms) {
    int product = -1;
    for (const Factor& factor : term.factors) {
      const int value = add_atom(*factor.atom, make_sum({Term{1, {Factor{factor.atom, 1}}}}, 0));
      for (int i = 0; i < factor.power; ++i) product = product < 0 ? value : add_instruction({Operation::Multiply, product, value}, dim);
    }
    if (sum < 0 && term.coefficient == 1)
      sum = product;
    else
      sum = add_instruction({Operation::AddProduct, product, sum < 0 ? add(0) : sum, term.coefficient}, dim);
  }
  return sum;
}

int DimProgram::add_atom(const Atom& atom, const Dim& whole) {
  const auto found = slots_.find(whole);
  if (found != slots_.end()) return found->second;
  if (atom.kind == AtomKind::Symbol) {
    throw TraceError(
        fmt::format("size expression: the symbol \"{}\" does not belong to this function; expected one of its own sizes. "
                    "A symbolic size must not leave the function that made it.",
                    atom.symbol.name));
  }
  const Operation operations[] = {Operation::Constant, Operation::FloorDivide, Operation::Modulo,
                                  Operation::Min,      Operation::Max,         Operation::Bcast};
  int result = add(atom.operands[0]);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const int next = add(atom.operands[i]);
    result = add_instruction({operations[static_cast<int>(atom.kind)], result, next}, whole);
  }
  slots_.emplace(whole, result);
  return result;
}

void DimProgram::run(const int64_t* symbol_values, int64_t* out) const {
  std::copy_n(symbol_values, early_, out);
  if (!stages_.empty()) run_stage(stages_[0], out);
}

void DimProgram::resume(int stage, int64_t value, int64_t* out) const {
  out[early_ + static_cast<size_t>(stage) - 1] = value;
  run_stage(stages_[static_cast<size_t>(stage)], out);
}

void DimProgram::run_stage(const std::vector<Instruction>& instructions, int64_t* out) const {
  for (const Instruction& instruction : instructions) {
    int64_t* const slot = out + instruction.slot;
    if (instruction.operation == Operation::Constant) {
      *slot = instruction.constant;
      continue;
    }
    const int64_t a = out[instruction.a], b = out[instruction.b];
    bool failed = false;
    switch (instruction.operation) {
      case Operation::Constant: break;
      case Operation::AddProduct: {
        int64_t product = 0;
        failed = __builtin_mul_overflow(a, instruction.constant, &product) || __builtin_add_overflow(product, b, slot);
        break;
      }
      case Operation::Multiply: failed = __builtin_mul_overflow(a, b, slot); break;
      case Operation::FloorDivide:
        failed = b == 0 || (b == -1 && a == Range::minus_infinity);
        if (!failed) *slot = checked_floor_divide(a, b);
        break;
      case Operation::Modulo:
        failed = b == 0;
        if (!failed) *slot = checked_floor_modulo(a, b);
        break;
      case Operation::Min: *slot = std::min(a, b); break;
      case Operation::Max: *slot = std::max(a, b); break;
      case Operation::Bcast: *slot = a == 1 ? b : a; break;
    }
    if (failed) report(instruction, out);
  }
}

void DimProgram::report(const Instruction& instruction, const int64_t* out) const {
  const Dim& whole = wholes_[static_cast<size_t>(instruction.slot)];
  const bool divides = instruction.operation == Operation::FloorDivide || instruction.operation == Operation::Modulo;
  std::string values;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& symbol = *as_symbol(symbols_[i]);
    if (depends_on(whole, symbol.id)) values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", symbol.name, out[i]);
  }
  throw ShapeError(fmt::format("size \"{}\" {}: {}; expected {}.", to_string(whole), divides ? "divides by zero" : "overflows", values,
                               divides ? "a divisor other than 0" : "a result that fits 64 bits"));
}

}  // namespace anyshape
