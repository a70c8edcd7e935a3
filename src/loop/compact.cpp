// Dead values out, numbers dense: what is left is what the verifier, the printer and the code generator see.
#include "loop/compact.h"

#include <utility>

#include "loop/rules.h"

namespace anyshape::loop {
namespace {

// Calls `visit` on every operand of the instruction itself; those inside its blocks are not touched.
template <class Visit>
void visit_operands(Instruction& instruction, Visit&& visit) {
  for (Value& value : instruction.args) visit(value);
  for (Value& value : instruction.yields) visit(value);
  if (instruction.grain) visit(instruction.grain);
}

class Compactor {
 public:
  explicit Compactor(Kernel& kernel) : kernel_(kernel), uses_(kernel.types.size(), 0), numbers_(kernel.types.size()) {}

  void run() {
    count(kernel_.body);
    drop_dead(kernel_.body);
    renumber(kernel_.body);
    kernel_.types = std::move(types_);
  }

 private:
  int& uses(Value value) { return uses_[static_cast<size_t>(value.id)]; }

  void count(Block& block) {
    for (Instruction& instruction : block) {
      visit_operands(instruction, [&](Value& value) { ++uses(value); });
      count(instruction.body);
      count(instruction.otherwise);
    }
  }

  // Uses follow definitions, so one walk backwards also finds what only dead values used.
  void drop_dead(Block& block) {
    bool drops = false;
    for (size_t i = block.size(); i-- > 0;) {
      Instruction& instruction = block[i];
      if (is_plain(instruction) && uses(instruction.results[0]) == 0) {
        visit_operands(instruction, [&](Value& value) { --uses(value); });
        instruction.results.clear();
        drops = true;
        continue;
      }
      drop_dead(instruction.otherwise);
      drop_dead(instruction.body);
    }
    if (drops) std::erase_if(block, [](const Instruction& instruction) { return is_plain(instruction) && instruction.results.empty(); });
  }

  static bool is_plain(const Instruction& instruction) {
    return is_pure(instruction.op) || instruction.op == Op::Load || instruction.op == Op::Constant || instruction.op == Op::Size;
  }

  void define(Value& value) {
    Value& number = numbers_[static_cast<size_t>(value.id)];
    number = {static_cast<int32_t>(types_.size())};
    types_.push_back(kernel_.types[static_cast<size_t>(value.id)]);
    value = number;
  }

  void renumber(Block& block) {
    const auto use = [&](Value& value) { value = numbers_[static_cast<size_t>(value.id)]; };
    for (Instruction& instruction : block) {
      for (Value& value : instruction.args) use(value);
      if (instruction.grain) use(instruction.grain);
      if (instruction.index) define(instruction.index);
      for (Value& value : instruction.carried) define(value);
      renumber(instruction.body);
      for (Value& value : instruction.yields) use(value);
      renumber(instruction.otherwise);
      for (Value& value : instruction.results) define(value);
    }
  }

  Kernel& kernel_;
  std::vector<int> uses_;
  std::vector<Value> numbers_;
  std::vector<Dtype> types_;
};

}  // namespace

void compact(Kernel& kernel) { Compactor(kernel).run(); }

}  // namespace anyshape::loop
