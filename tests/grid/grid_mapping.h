// Cuts neutral loops for a grid of blocks that run at the same time and meet at barriers. What is independent is dealt out to the blocks in turns;
// in a block, what is independent is done backwards. What stands outside of such loops every block computes for itself, but memory is written
// there by the first block alone. Between two barriers no block touches what another one writes: tests/grid/grid.h holds the kernel to it.
#pragma once
#include "loop/build.h"
#include "loop/ir.h"

#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::test {

inline constexpr const char* meet_routine = "grid.meet";

// A fault on purpose, for the tests of what finds it.
enum class GridMistake { None, NoBarriers, EveryBlockWrites, EveryBlockDoesAll, LastTurnIsLost };

class GridMapping {
 public:
  // The kernel's last two sizes are the number of the block and how many there are.
  GridMapping(loop::Kernel kernel, GridMistake mistake)
      : mistake_(mistake), body_(std::exchange(kernel.body, {})), names_(kernel.types.size()), b_(std::move(kernel)) {
    block_ = b_.size("grid.block");
    blocks_ = b_.size("grid.blocks");
  }
  loop::Kernel run() {
    take(body_);
    return b_.finish_taken();
  }

 private:
  using Block = loop::Block;
  using Instruction = loop::Instruction;
  using LoopKind = loop::LoopKind;
  using Op = loop::Op;
  using Value = loop::Value;
  static constexpr int64_t width = 5, at_once = 3;  // columns of a range, iterations of a run: few, so that there are many

  void take(Block& block) {
    for (Instruction& instruction : block) take(std::move(instruction));
  }

  void take(Instruction&& instruction) {
    rename(instruction);
    if (instruction.op == Op::For && instruction.kind != LoopKind::Serial) return cut(instruction);
    const bool has_body = !instruction.body.empty() || !instruction.otherwise.empty();
    if (!is_inside_) {
      const bool is_statement = instruction.results.empty() && has_body && !has_cut(instruction) && writes(instruction);
      if (is_statement || instruction.op == Op::Store || instruction.op == Op::Call) return by_the_first(std::move(instruction));
      if (instruction.op == Op::Load || has_body) have_met_ = false;
    }
    b_.take(std::move(instruction), [this](Block& block) {
      have_met_ = false;
      take(block);
    });
    if (has_body) have_met_ = false;
  }

  void cut(Instruction& loop) {
    switch (loop.kind) {
      case LoopKind::Each:
      case LoopKind::Elements:
        return for_all(loop.args[0], loop.args[1], [&](Value index) {
          set_name(loop.index, index);
          take(loop.body);
        });
      case LoopKind::Ranges: return cut_ranges(loop);
      case LoopKind::Runs: return cut_runs(loop);
      default:  // cut already, which an op must not do: every block does all of it, and the grid finds that
        return b_.take(std::move(loop), [this](Block& block) {
          const bool was_inside = std::exchange(is_inside_, true);
          take(block);
          is_inside_ = was_inside;
        });
    }
  }

  void cut_ranges(Instruction& ranges) {
    const Value length = ranges.args[1], parts = b_.ceil_divide(length, width);
    for_all(b_.integer(0), b_.multiply(ranges.args[0], parts), [&](Value task) {
      const Value row = b_.floor_divide(task, parts), begin = b_.multiply(b_.subtract(task, b_.multiply(row, parts)), b_.integer(width));
      set_name(ranges.index, row);
      set_name(ranges.carried[0], begin);
      set_name(ranges.carried[1], b_.minimum(b_.add(begin, b_.integer(width)), length));
      take(ranges.body);
    });
  }

  // In order, so that every block goes through all of them.
  void cut_runs(Instruction& runs) {
    const Value begin = runs.args[0], end = runs.args[1];
    b_.serial_for(b_.integer(0), b_.ceil_divide(b_.subtract(end, begin), at_once), [&](Value number) {
      have_met_ = false;
      const Value from = b_.add(begin, b_.multiply(number, b_.integer(at_once)));
      set_name(runs.carried[0], from);
      set_name(runs.carried[1], b_.minimum(b_.add(from, b_.integer(at_once)), end));
      take(runs.body);
    });
    have_met_ = false;
  }

  // Independent iterations: dealt out to the blocks, or backwards in a block.
  template <class Body>
  void for_all(Value begin, Value end, const Body& body) {
    const Value one = b_.integer(1);
    if (is_inside_) {
      b_.serial_for(begin, end, [&](Value index) { body(b_.subtract(b_.subtract(b_.add(begin, end), one), index)); });
      return;
    }
    meet();
    const bool does_all = mistake_ == GridMistake::EveryBlockDoesAll;
    const Value first = does_all ? begin : b_.add(begin, block_), step = does_all ? one : blocks_;
    Value turns = b_.floor_divide(b_.add(b_.subtract(end, first), b_.subtract(step, one)), step);
    if (mistake_ == GridMistake::LastTurnIsLost) turns = b_.subtract(turns, one);
    b_.serial_for(b_.integer(0), turns, [&](Value turn) {
      is_inside_ = true;
      body(b_.add(first, b_.multiply(turn, step)));
      is_inside_ = false;
    });
    have_met_ = false;
    meet();
  }

  void by_the_first(Instruction&& instruction) {
    meet();
    const auto taken = [&] {
      is_inside_ = true;
      take(std::move(instruction));
      is_inside_ = false;
    };
    if (mistake_ == GridMistake::EveryBlockWrites) {
      taken();
    } else {
      b_.if_(b_.equal(block_, b_.integer(0)), taken);
    }
    have_met_ = false;
    meet();
  }

  void meet() {
    if (have_met_ || mistake_ == GridMistake::NoBarriers) return;
    b_.call(meet_routine, {}, {});
    have_met_ = true;
  }

  static bool any_inside(const Instruction& instruction, bool (*is)(const Instruction&)) {
    for (const Block* const block : {&instruction.body, &instruction.otherwise}) {
      for (const Instruction& inner : *block) {
        if (is(inner) || any_inside(inner, is)) return true;
      }
    }
    return false;
  }
  static bool has_cut(const Instruction& instruction) {
    return any_inside(instruction, [](const Instruction& inner) { return inner.op == Op::For && inner.kind != LoopKind::Serial; });
  }
  static bool writes(const Instruction& instruction) {
    return any_inside(instruction, [](const Instruction& inner) { return inner.op == Op::Store || inner.op == Op::Call; });
  }

  void set_name(Value old, Value now) {
    if (old) names_[static_cast<size_t>(old.id)] = b_.at_hand(now);
  }
  void rename(Value& value) const {
    const auto number = static_cast<size_t>(value.id);
    if (number < names_.size() && names_[number]) value = names_[number];
  }
  void rename(Instruction& instruction) const {
    for (Value& value : instruction.args) rename(value);
    for (Value& value : instruction.yields) rename(value);
    if (instruction.grain) rename(instruction.grain);
  }

  GridMistake mistake_;
  Block body_;
  std::vector<Value> names_;  // by what the value was; none: it is the same
  loop::Builder b_;
  Value block_, blocks_;
  bool is_inside_ = false;  // of what one block does for itself
  bool have_met_ = true;    // nothing has been touched since the last barrier
};

inline loop::Kernel map_for_grid(loop::Kernel kernel, GridMistake mistake = GridMistake::None) {
  return GridMapping(std::move(kernel), mistake).run();
}

}  // namespace anyshape::test
