// What varies in a vector loop and how many lanes a vector of it has. Works on the loop IR alone.
#include "codegen/lanes.h"

#include <algorithm>

namespace anyshape::codegen {
namespace {

using loop::Block;
using loop::Instruction;
using loop::Op;
using loop::Value;

class VaryingMarks {
 public:
  explicit VaryingMarks(size_t values) : marks_(values, false) {}

  void mark(Value value) { marks_[static_cast<size_t>(value.id)] = true; }
  bool has(Value value) const { return marks_[static_cast<size_t>(value.id)]; }

  void walk(const Block& block) {
    for (const Instruction& instruction : block) visit(instruction);
  }
  std::vector<bool> take() { return std::move(marks_); }

 private:
  void visit(const Instruction& instruction) {
    if (instruction.op == Op::For) return visit_loop(instruction);
    if (instruction.op == Op::If) {
      walk(instruction.body);
      walk(instruction.otherwise);
      return;
    }
    if (std::ranges::any_of(instruction.args, [&](Value arg) { return has(arg); })) {
      for (const Value result : instruction.results) mark(result);
    }
  }

  // A carried value varies if what enters or what comes around varies; another round is needed whenever one turns out to.
  void visit_loop(const Instruction& loop) {
    for (size_t i = 0; i < loop.carried.size(); ++i) {
      if (has(loop.args[i + 2])) mark(loop.carried[i]);
    }
    for (bool changed = true; changed;) {
      changed = false;
      walk(loop.body);
      for (size_t i = 0; i < loop.carried.size(); ++i) {
        if (has(loop.yields[i]) && !has(loop.carried[i])) {
          mark(loop.carried[i]);
          changed = true;
        }
      }
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) {
      if (has(loop.carried[i])) mark(loop.results[i]);
    }
  }

  std::vector<bool> marks_;
};

// The weight of a body in registers: an 8-byte element counts twice, a divided integer is many instructions.
int weigh(const loop::Kernel& kernel, const Block& block, const std::vector<bool>& varying) {
  int weight = 0;
  for (const Instruction& instruction : block) {
    weight += weigh(kernel, instruction.body, varying) + weigh(kernel, instruction.otherwise, varying);
    const bool is_index =
        instruction.type == Dtype::i64 && (instruction.op == Op::Add || instruction.op == Op::Subtract || instruction.op == Op::Multiply);
    if (instruction.results.empty() || is_index || !varying[static_cast<size_t>(instruction.results[0].id)]) continue;
    const bool divides = instruction.op == Op::FloorDivide || instruction.op == Op::Modulo;
    weight += (size_of(instruction.type) == 8 ? 2 : 1) * (divides ? 16 : 1);
  }
  return weight;
}

int count_in_vectors(const Block& block) {
  int count = 0;
  for (const Instruction& instruction : block) {
    const bool is_vector = instruction.op == Op::Reduce || (instruction.op == Op::For && instruction.kind == loop::LoopKind::Vector);
    count += is_vector ? count_accesses(instruction.body) : count_in_vectors(instruction.body) + count_in_vectors(instruction.otherwise);
  }
  return count;
}

}  // namespace

int count_accesses(const Block& block) {
  int count = 0;
  for (const Instruction& instruction : block) {
    const bool is_access = instruction.op == Op::Load || instruction.op == Op::Store;
    count += is_access + count_accesses(instruction.body) + count_accesses(instruction.otherwise);
  }
  return count;
}

bool has_few_addresses(const loop::Kernel& kernel) {
  constexpr int few = 128;
  const int count = count_in_vectors(kernel.body);
  return count > 0 && count <= few;
}

std::vector<bool> find_varying(const loop::Kernel& kernel, const Instruction& loop) {
  VaryingMarks marks(kernel.types.size());
  marks.mark(loop.index);
  marks.walk(loop.body);
  return marks.take();
}

int choose_width(const loop::Kernel& kernel, const Instruction& loop, const std::vector<bool>& varying, int vector_bytes) {
  const int weight = weigh(kernel, loop.body, varying);
  const int unroll = weight <= 6 ? 4 : weight <= 20 ? 2 : 1;
  return vector_bytes / 4 * unroll;
}

}  // namespace anyshape::codegen
