// Branches and loops: a block is entered, told where its lent buffers are, and its items run. Time steps of sequences and stacked results are
// parts of the whole; carried values change buffers with every time step.
#include "base/spread_bits.h"
#include "runtime/executable.h"
#include "runtime/frame.h"

#include <array>

namespace anyshape::runtime {
int64_t Executable::bytes_of(int buffer, const Frame& frame) const {
  const lower::ProgramBuffer& which = program_.buffers[static_cast<size_t>(buffer)];
  return frame.table(which.block)[static_cast<size_t>(count_slots_[static_cast<size_t>(buffer)])] * size_of(which.dtype);
}

void Executable::enter_inner(int inner, int block, Frame& frame) const { enter(inner, frame, frame.table(block).data(), {}); }

// Every iteration draws its own random numbers, the same ones when it is computed again.
void Executable::set_iteration(int inner, int block, Frame& frame, int64_t iteration) const {
  if (random_slot_ < 0) return;
  const auto slot = static_cast<size_t>(random_slot_);
  const auto key = static_cast<uint64_t>(frame.table(block)[slot]);
  frame.table(inner)[slot] = static_cast<int64_t>(spread_bits(key, static_cast<uint64_t>(iteration)));
}

void Executable::lend_output(int inner, size_t output, Frame& frame, void* target) const {
  const lower::BlockOutput& which = program_.blocks[static_cast<size_t>(inner)].outputs[output];
  if (which.is_lent) frame.pointers[static_cast<size_t>(which.buffer)] = target;
}

int64_t Executable::output_bytes(int inner, size_t output, const Frame& frame) const {
  const lower::BlockOutput& which = program_.blocks[static_cast<size_t>(inner)].outputs[output];
  const int slot = blocks_[static_cast<size_t>(inner)].outputs[output];
  return frame.table(inner)[static_cast<size_t>(slot)] * size_of(program_.buffers[static_cast<size_t>(which.buffer)].dtype);
}

void Executable::copy_output(int inner, size_t output, Frame& frame, void* target) const {
  const lower::BlockOutput& which = program_.blocks[static_cast<size_t>(inner)].outputs[output];
  if (!which.is_lent) copy_bytes(target, frame.pointers[static_cast<size_t>(which.buffer)], output_bytes(inner, output, frame));
}

void Executable::run_branch(const lower::BranchItem& item, int block, Frame& frame, AsContext& context) const {
  const bool outcome = *static_cast<const bool*>(frame.pointers[static_cast<size_t>(item.condition)]);
  const int inner = outcome ? item.then : item.otherwise;
  enter_inner(inner, block, frame);
  for (size_t i = 0; i < item.outputs.size(); ++i) lend_output(inner, i, frame, frame.pointers[static_cast<size_t>(item.outputs[i])]);
  run_items(inner, frame, context);
  for (size_t i = 0; i < item.outputs.size(); ++i) copy_output(inner, i, frame, frame.pointers[static_cast<size_t>(item.outputs[i])]);
}

bool Executable::ask(const lower::WhileItem& item, Frame& frame, AsContext& context) const {
  alignas(64) std::array<char, 64> answer{};
  lend_output(item.condition, 0, frame, answer.data());
  run_items(item.condition, frame, context);
  const lower::BlockOutput& output = program_.blocks[static_cast<size_t>(item.condition)].outputs[0];
  return *static_cast<const bool*>(frame.pointers[static_cast<size_t>(output.buffer)]);
}

void Executable::run_while(const lower::WhileItem& item, int block, Frame& frame, AsContext& context) const {
  auto pointer = [&](int buffer) -> void*& { return frame.pointers[static_cast<size_t>(buffer)]; };
  // Where a carried value stands after this many iterations.
  auto memory_of = [&](const lower::CarriedBuffer& each, int64_t done) {
    return pointer(done == 0 ? each.initial : done % 2 == 0 ? each.final : each.spare);
  };
  enter_inner(item.condition, block, frame);
  int64_t done = 0;
  for (; item.most < 0 || done < item.most; ++done) {
    set_iteration(item.condition, block, frame, done);
    for (size_t i = 0; i < item.carried.size(); ++i) pointer(item.asked[i]) = memory_of(item.carried[i], done);
    if (!ask(item, frame, context)) break;
    if (done == 0) enter_inner(item.body, block, frame);
    set_iteration(item.body, block, frame, done);
    for (size_t i = 0; i < item.carried.size(); ++i) {
      pointer(item.carried[i].inside) = memory_of(item.carried[i], done);
      lend_output(item.body, i, frame, memory_of(item.carried[i], done + 1));
    }
    run_items(item.body, frame, context);
    for (size_t i = 0; i < item.carried.size(); ++i) copy_output(item.body, i, frame, memory_of(item.carried[i], done + 1));
  }
  for (const lower::CarriedBuffer& each : item.carried) copy_bytes(pointer(each.final), memory_of(each, done), bytes_of(each.final, frame));
}

}  // namespace anyshape::runtime
