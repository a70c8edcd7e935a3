// Variables that are updated in place. What fails must have failed before the first of them is written, so the steps that write them are
// taken from the end of a program only: as far as steps call nothing that can fail.
#include "base/switches.h"
#include "loop/any_instruction.h"
#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::lower {
namespace {

bool is_call(const loop::Instruction& instruction) { return instruction.op == loop::Op::Call; }

class UpdatePlan {
 public:
  explicit UpdatePlan(Program& program) : program_(program), items_(program.blocks[0].items), last_part_(static_cast<int>(items_.size())) {
    const int after_sizes = program.late_sizes.empty() ? 0 : program.late_sizes.back().item + 1;
    while (last_part_ > after_sizes && cannot_fail(items_[static_cast<size_t>(last_part_ - 1)])) --last_part_;
  }

  // Why the update cannot be made in place; empty where it can, which is then noted.
  std::string_view add(const Update& update) {
    const int result = program_.results[static_cast<size_t>(update.result)].buffer;
    const int argument = argument_buffer(update.argument);
    if (is_switched_off("update_in_place")) return "switched off";
    const ProgramBuffer &to = buffer(result), &from = buffer(argument);
    if (to.kind != BufferKind::Result || to.first_step < 0) return "the value is an argument";
    if (to.first_step < last_part_) return "what follows its kernel can fail";
    const Step& step = program_.steps[static_cast<size_t>(std::get<int>(items_[static_cast<size_t>(to.first_step)]))];
    if (step.access_of(result) != loop::Access::Out || step.access_of(argument) != loop::Access::Own)
      return "its kernel does not read the old value element by element as it writes";
    if (from.last_step > to.first_step) return "the old value is read again";
    if (size_of(from.dtype) != size_of(to.dtype)) return "the elements differ in size";
    if (std::ranges::any_of(program_.results, [&](const ProgramResult& each) { return each.buffer == argument; }))
      return "the old value is a result";
    for (const Update& other : program_.updates) {
      if (program_.results[static_cast<size_t>(other.result)].buffer == result) return "another variable gets the same value";
    }
    program_.updates.push_back(update);
    program_.first_update = program_.first_update < 0 ? to.first_step : std::min(program_.first_update, to.first_step);
    return {};
  }

  std::string subject(const Update& update) {
    return fmt::format("{} over {}", buffer(program_.results[static_cast<size_t>(update.result)].buffer).value,
                       buffer(argument_buffer(update.argument)).value);
  }

 private:
  ProgramBuffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }
  bool cannot_fail(const Item& item) const {
    const int* step = std::get_if<int>(&item);
    return step != nullptr && !loop::any_instruction(program_.steps[static_cast<size_t>(*step)].kernel.body, is_call);
  }
  int argument_buffer(int argument) const {
    const auto found = std::ranges::find_if(
        program_.buffers, [&](const ProgramBuffer& each) { return each.kind == BufferKind::Argument && each.argument == argument; });
    return static_cast<int>(found - program_.buffers.begin());
  }

  Program& program_;
  const std::vector<Item>& items_;
  int last_part_;  // the item from which on nothing fails
};

}  // namespace

void plan_updates(Program& program, std::span<const Update> updates, Decisions& decisions) {
  UpdatePlan plan(program);
  for (const Update& each : updates) {
    const std::string_view refusal = plan.add(each);
    decisions.push_back({"update_in_place", plan.subject(each), refusal.empty(),
                         std::string(refusal.empty() ? "nothing that follows fails or reads the old value" : refusal)});
  }
}

}  // namespace anyshape::lower
