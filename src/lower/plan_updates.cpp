// Variables that are updated in place. What fails must have failed before the first of them is written, so the launches that write them are
// taken from the end of a program only: as far as launches call nothing that can fail.
#include "base/switches.h"
#include "loop/any_instruction.h"
#include "loop/routines.h"
#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace anyshape::lower {
namespace {

const Switch updates_in_place("update_in_place", "a variable that nobody else holds is written over by its next value");

bool can_fail(const loop::Instruction& instruction) {
  if (instruction.op != loop::Op::Call) return false;
  const loop::Routine* const routine = loop::find_routine(instruction.name);
  return routine == nullptr || routine->can_fail;
}

class UpdatePlan {
 public:
  explicit UpdatePlan(Program& program)
      : program_(program),
        items_(program.blocks[0].items),
        last_part_(static_cast<int>(items_.size())),
        is_result_(program.buffers.size()),
        is_updated_(program.buffers.size()) {
    const int after_sizes = program.data_sizes.empty() ? 0 : program.data_sizes.back().item + 1;
    while (last_part_ > after_sizes && cannot_fail(items_[static_cast<size_t>(last_part_ - 1)])) --last_part_;
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      if (program.buffers[i].kind != BufferKind::Argument) continue;
      const auto argument = static_cast<size_t>(program.buffers[i].argument);
      if (argument >= argument_buffers_.size()) argument_buffers_.resize(argument + 1, -1);
      argument_buffers_[argument] = static_cast<int>(i);
    }
    for (const ProgramResult& result : program.results) is_result_[static_cast<size_t>(result.buffer)] = true;
  }

  // Why the update cannot be made in place; empty where it can, which is then noted.
  std::string_view add(const Update& update) {
    const int result = program_.results[static_cast<size_t>(update.result)].buffer;
    const int argument = argument_buffer(update.argument);
    if (updates_in_place.is_off()) return "switched off";
    const ProgramBuffer &to = buffer(result), &from = buffer(argument);
    if (to.kind != BufferKind::Result || to.first_item < 0) return "the value is an argument";
    if (to.first_item < last_part_) return "what follows its kernel can fail";
    const Launch& launch = program_.launches[static_cast<size_t>(std::get<int>(items_[static_cast<size_t>(to.first_item)]))];
    if (launch.access_of(result) != loop::Access::Out || launch.access_of(argument) != loop::Access::Own)
      return "its kernel does not read the old value element by element as it writes";
    if (from.last_item > to.first_item) return "the old value is read again";
    if (size_of(from.dtype) != size_of(to.dtype)) return "the elements differ in size";
    if (is_result_[static_cast<size_t>(argument)]) return "the old value is a result";
    if (is_updated_[static_cast<size_t>(result)]) return "another variable gets the same value";
    is_updated_[static_cast<size_t>(result)] = true;
    program_.updates.push_back(update);
    program_.first_update = program_.first_update < 0 ? to.first_item : std::min(program_.first_update, to.first_item);
    return {};
  }

  std::string subject(const Update& update) {
    return fmt::format("{} over {}", buffer(program_.results[static_cast<size_t>(update.result)].buffer).value,
                       buffer(argument_buffer(update.argument)).value);
  }

 private:
  ProgramBuffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }
  bool cannot_fail(const Item& item) const {
    const int* launch = std::get_if<int>(&item);
    return launch != nullptr && !loop::any_instruction(program_.launches[static_cast<size_t>(*launch)].kernel->body, can_fail);
  }
  int argument_buffer(int argument) const { return argument_buffers_.at(static_cast<size_t>(argument)); }

  Program& program_;
  const std::vector<Item>& items_;
  int last_part_;                             // the item from which on nothing fails
  std::vector<int> argument_buffers_;         // by argument
  std::vector<bool> is_result_, is_updated_;  // by buffer
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
