// One walk over a kernel that takes over its instructions and writes other loops instead of those that are to be cut.
#include "lower/map_cpu.h"

#include "loop/build.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace anyshape::lower {
namespace {

using loop::Block;
using loop::Instruction;
using loop::LoopKind;
using loop::Op;
using loop::Value;
using loop::Walk;

class CpuMapping {
 public:
  CpuMapping(loop::Kernel kernel, const loop::Target& target)
      : target_(target), body_(std::exchange(kernel.body, {})), names_(kernel.types.size()), b_(std::move(kernel)) {}

  loop::Kernel run() {
    take(body_);
    return b_.finish_taken();
  }

 private:
  // What is left of the block is moved from.
  void take(Block& block) {
    for (Instruction& instruction : block) take(std::move(instruction));
  }

  void take(Instruction&& instruction) {
    rename(instruction);
    if (is_folded(instruction))
      return set_name(instruction.results[0], b_.binary(instruction.op, instruction.args[0], instruction.args[1]));
    if (instruction.op == Op::For) {
      switch (instruction.kind) {
        case LoopKind::Each: return cut_each(instruction);
        case LoopKind::Ranges: return cut_ranges(instruction);
        case LoopKind::Runs: return cut_runs(instruction);
        default: break;
      }
    }
    if (has_work(instruction)) return b_.take(std::move(instruction), [this](Block& block) { take(block); });
    cut_elements(instruction);
    b_.take(std::move(instruction));
  }

  // Offsets of the one row there is.
  bool is_folded(const Instruction& instruction) const {
    const bool is_offset = instruction.type == Dtype::i64 && (instruction.op == Op::Add || instruction.op == Op::Multiply);
    return is_offset && folds_ && std::ranges::any_of(instruction.args, [&](Value arg) { return is_number(arg, 0); });
  }

  // Whether tasks or runs are cut inside of it.
  static bool has_work(const Instruction& instruction) {
    if (instruction.op == Op::Reduce || (instruction.op == Op::For && instruction.kind == LoopKind::Elements)) return false;
    const auto is_cut = [](const Instruction& inner) {
      return (inner.op == Op::For && inner.kind >= LoopKind::Each && inner.kind <= LoopKind::Runs) || has_work(inner);
    };
    return std::ranges::any_of(instruction.body, is_cut) || std::ranges::any_of(instruction.otherwise, is_cut);
  }

  void cut_elements(Instruction& instruction) {
    if (instruction.op == Op::For && instruction.kind == LoopKind::Elements) instruction.kind = LoopKind::Vector;
    for (Block* const block : {&instruction.body, &instruction.otherwise}) {
      for (Instruction& inner : *block) {
        rename(inner);
        cut_elements(inner);
      }
    }
  }

  // Iterations of a task: those of task_elements.
  Value grain_of(Value work) { return b_.maximum(elements_over(target_.task_elements, work), b_.integer(1)); }
  Value elements_over(int64_t elements, Value work) { return b_.floor_divide(b_.integer(elements), b_.maximum(work, b_.integer(1))); }

  void cut_each(Instruction& each) {
    b_.parallel_for(each.args[0], each.args[1], grain_of(each.args[2]), [&](Value index) {
      set_name(each.index, index);
      take(each.body);
    });
  }

  // Rows of several ranges and ranges of several rows alike are numbered one after the other, those of one row side by side.
  void cut_ranges(Instruction& ranges) {
    const Value rows = ranges.args[0], length = ranges.args[1], work = ranges.args[2], one = b_.integer(1);
    const auto walk = static_cast<Walk>(ranges.integer);
    const bool is_one_row = is_number(rows, 1);
    const Value width = walk == Walk::Once ? grain_of(work) : b_.integer(target_.columns[static_cast<size_t>(ranges.integer)]);
    const Value parts = b_.floor_divide(b_.add(length, b_.subtract(width, one)), width);
    const bool is_task = walk == Walk::Once && is_one_row;
    const Value grain = is_task ? one : grain_of(b_.multiply(b_.minimum(length, width), work));
    b_.parallel_for(b_.integer(0), b_.multiply(rows, parts), grain, [&](Value task) {
      const Value row = is_one_row ? b_.integer(0) : b_.floor_divide(task, parts);
      const Value number = is_one_row ? task : b_.subtract(task, b_.multiply(row, parts));
      const Value begin = b_.multiply(number, width);
      set_name(ranges.index, row);
      folds_ = folds_ || is_one_row;
      walk_range(ranges, begin, b_.minimum(b_.add(begin, width), length));
    });
  }

  void cut_runs(Instruction& runs) {
    const Value begin = runs.args[0], end = runs.args[1], one = b_.integer(1);
    const Value fitting = elements_over(target_.run_elements, runs.args[2]);
    const Value at_once = b_.minimum(b_.maximum(fitting, b_.integer(target_.least_run)), b_.integer(target_.most_run));
    const Value count = b_.floor_divide(b_.add(b_.subtract(end, begin), b_.subtract(at_once, one)), at_once);
    b_.serial_for(b_.integer(0), count, [&](Value number) {
      const Value from = b_.add(begin, b_.multiply(number, at_once));
      walk_range(runs, from, b_.minimum(b_.add(from, at_once), end));
    });
  }

  void walk_range(Instruction& loop, Value begin, Value end) {
    set_name(loop.carried[0], begin);
    set_name(loop.carried[1], end);
    take(loop.body);
  }

  bool is_number(Value value, int64_t number) const {
    const Instruction* const constant = b_.definition(value);
    return constant != nullptr && constant->op == Op::Constant && constant->integer == number;
  }

  // The values of loops that are written anew are others.
  void set_name(Value old, Value now) {
    names_[static_cast<size_t>(old.id)] = b_.at_hand(now);
    renames_ = true;
  }
  void rename(Value& value) const {
    if (const Value now = names_[static_cast<size_t>(value.id)]) value = now;
  }
  void rename(Instruction& instruction) const {
    if (!renames_) return;
    for (Value& value : instruction.args) rename(value);
    for (Value& value : instruction.yields) rename(value);
    if (instruction.grain) rename(instruction.grain);
  }

  const loop::Target& target_;
  Block body_;
  std::vector<Value> names_;  // by what the value was; none: it is the same
  bool renames_ = false, folds_ = false;
  loop::Builder b_;
};

}  // namespace

loop::Kernel map_for_cpu(loop::Kernel kernel, const loop::Target& target) { return CpuMapping(std::move(kernel), target).run(); }

void map_for_cpu(Program& program, const loop::Target& target) {
  std::unordered_map<const loop::Kernel*, std::shared_ptr<const loop::Kernel>> mapped;
  std::vector<std::shared_ptr<const loop::Kernel>> held;  // so that no address is met twice
  for (Launch& launch : program.launches) {
    auto [entry, is_new] = mapped.try_emplace(launch.kernel.get());
    if (is_new) {
      held.push_back(launch.kernel);
      entry->second = std::make_shared<const loop::Kernel>(map_for_cpu(*launch.kernel, target));
    }
    launch.kernel = entry->second;
  }
}

}  // namespace anyshape::lower
