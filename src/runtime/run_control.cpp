// Branches and loops: a block is entered, told where its lent buffers are, and its items run. Steps of sequences and stacked results are
// places in the whole; carried values change places with every step.
#include "ops/control/scan.h"
#include "runtime/executable.h"
#include "runtime/frame.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace anyshape::runtime {
namespace {

// Every iteration draws its own random numbers, the same ones when it is computed again.
int64_t mixed(int64_t key, int64_t iteration) {
  uint64_t bits = static_cast<uint64_t>(key) + 0x9e3779b97f4a7c15U * (static_cast<uint64_t>(iteration) + 1);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return static_cast<int64_t>(bits ^ (bits >> 31));
}

void copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace

int64_t Executable::bytes_of(int buffer, const Frame& frame) const {
  const lower::ProgramBuffer& which = program_.buffers[static_cast<size_t>(buffer)];
  return frame.table(which.block)[static_cast<size_t>(count_slots_[static_cast<size_t>(buffer)])] * size_of(which.dtype);
}

void Executable::enter_inner(int inner, int block, Frame& frame) const { enter(inner, frame, frame.table(block).data(), {}); }

void Executable::set_iteration(int inner, int block, Frame& frame, int64_t iteration) const {
  if (random_slot_ < 0) return;
  const auto slot = static_cast<size_t>(random_slot_);
  frame.table(inner)[slot] = mixed(frame.table(block)[slot], iteration);
}

void Executable::lend_output(int inner, size_t output, Frame& frame, void* place) const {
  const lower::BlockOutput& which = program_.blocks[static_cast<size_t>(inner)].outputs[output];
  if (which.is_lent) frame.pointers[static_cast<size_t>(which.buffer)] = place;
}

void Executable::copy_output(int inner, size_t output, Frame& frame, void* place) const {
  const lower::BlockOutput& which = program_.blocks[static_cast<size_t>(inner)].outputs[output];
  if (!which.is_lent) copy(place, frame.pointers[static_cast<size_t>(which.buffer)], bytes_of(which.buffer, frame));
}

void Executable::run_branch(const lower::BranchItem& item, int block, Frame& frame, AsContext& context) const {
  const bool outcome = *static_cast<const bool*>(frame.pointers[static_cast<size_t>(item.condition)]);
  const int inner = outcome ? item.then : item.otherwise;
  enter_inner(inner, block, frame);
  for (size_t i = 0; i < item.outputs.size(); ++i) lend_output(inner, i, frame, frame.pointers[static_cast<size_t>(item.outputs[i])]);
  run_items(inner, frame, context);
  for (size_t i = 0; i < item.outputs.size(); ++i) copy_output(inner, i, frame, frame.pointers[static_cast<size_t>(item.outputs[i])]);
}

// Where a scan stands. In a dense one every step has the same size; in a packed one it has `active` of the rows, and entries of packed values
// from `first` on.
struct Executable::ScanSteps {
  int64_t length = 0;
  int64_t at = 0;    // the step
  int64_t left = 0;  // after this one
  const int64_t* counts = nullptr;
  int64_t rows = 0;
  int64_t total = 0;
  int64_t active = 0;
  int64_t first = 0;
};

// Rows beyond the active ones have their values in `final`; the active ones stand where the step before has written them.
void Executable::keep_rows(const lower::ScanItem& item, const ScanSteps& steps, int64_t before, Frame& frame) const {
  auto pointer = [&](int buffer) { return static_cast<char*>(frame.pointers[static_cast<size_t>(buffer)]); };
  const bool is_first = steps.left + 1 == steps.length;
  for (const lower::CarriedBuffer& each : item.carried) {
    if (!each.by_rows || steps.rows == 0) continue;
    const int64_t row = bytes_of(each.initial, frame) / steps.rows;
    char *written = pointer(is_first ? each.initial : steps.left % 2 == 0 ? each.spare : each.final), *final = pointer(each.final);
    const int64_t begin = std::min(before, steps.active) * row, bytes = std::max(before, steps.active) * row - begin;
    if (steps.active < before)
      copy(final + begin, written + begin, bytes);
    else
      copy(written + begin, final + begin, bytes);
  }
}

void Executable::run_scan(const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block, Frame& frame, AsContext& context) const {
  auto pointer = [&](int buffer) -> void*& { return frame.pointers[static_cast<size_t>(buffer)]; };
  auto size = [&](int slot) -> int64_t& { return frame.table(block)[static_cast<size_t>(slot)]; };
  ScanSteps steps{.length = size(sizes.length)};
  const bool is_packed = item.packing.counts >= 0;
  if (is_packed) {
    steps.counts = static_cast<const int64_t*>(pointer(item.packing.counts));
    steps.rows = size(sizes.rows);
    steps.total = size(sizes.total);
    steps.first = item.reverse ? steps.total : 0;
    require_counts({steps.counts, static_cast<size_t>(steps.length)}, steps.rows, steps.total);
  }
  if (steps.length == 0) {
    for (const lower::CarriedBuffer& each : item.carried) copy(pointer(each.final), pointer(each.initial), bytes_of(each.initial, frame));
    return;
  }
  const size_t carried = item.carried.size();
  // Written in turn such that the last step writes the final value.
  auto place = [&](const lower::CarriedBuffer& each, int64_t left) { return pointer(left % 2 == 0 ? each.final : each.spare); };
  // The whole may be larger than its steps: a size found in the data is counted with what it cannot exceed.
  auto step_of = [&](const lower::ScanItem::Sequence& each, int inside) -> void* {
    const int64_t bytes = bytes_of(inside, frame);
    const int64_t offset = !each.by_rows ? bytes * steps.at : steps.active == 0 ? 0 : bytes / steps.active * steps.first;
    return static_cast<char*>(pointer(each.whole)) + offset;
  };
  const std::vector<lower::BlockOutput>& made = program_.blocks[static_cast<size_t>(item.body)].outputs;
  auto for_each_output = [&](auto&& give) {
    for (size_t i = 0; i < carried; ++i) give(i, place(item.carried[i], steps.left));
    for (size_t i = 0; i < item.stacked.size(); ++i) give(carried + i, step_of(item.stacked[i], made[carried + i].buffer));
  };
  for (int64_t done = 0; done < steps.length; ++done) {
    steps.left = steps.length - 1 - done;
    steps.at = item.reverse ? steps.left : done;
    const int64_t before = done == 0 ? steps.rows : steps.active;
    if (is_packed) {
      steps.active = steps.counts[steps.at];
      if (item.reverse) steps.first -= steps.active;
      keep_rows(item, steps, before, frame);
    }
    if (done == 0 || steps.active != before) {
      if (is_packed) size(sizes.active) = steps.active;
      enter_inner(item.body, block, frame);
    }
    set_iteration(item.body, block, frame, steps.at);
    for (const lower::CarriedBuffer& each : item.carried)
      pointer(each.inside) = done == 0 ? pointer(each.initial) : place(each, steps.left + 1);
    for (const lower::ScanItem::Sequence& each : item.sequences) pointer(each.inside) = step_of(each, each.inside);
    for_each_output([&](size_t output, void* where) { lend_output(item.body, output, frame, where); });
    run_items(item.body, frame, context);
    for_each_output([&](size_t output, void* where) { copy_output(item.body, output, frame, where); });
    if (is_packed && !item.reverse) steps.first += steps.active;
  }
}

bool Executable::ask(const lower::WhileItem& item, Frame& frame, AsContext& context) const {
  alignas(64) std::array<char, 64> place{};
  lend_output(item.condition, 0, frame, place.data());
  run_items(item.condition, frame, context);
  const lower::BlockOutput& output = program_.blocks[static_cast<size_t>(item.condition)].outputs[0];
  return *static_cast<const bool*>(frame.pointers[static_cast<size_t>(output.buffer)]);
}

void Executable::run_while(const lower::WhileItem& item, int block, Frame& frame, AsContext& context) const {
  auto pointer = [&](int buffer) -> void*& { return frame.pointers[static_cast<size_t>(buffer)]; };
  // Where a carried value stands after this many iterations.
  auto place = [&](const lower::CarriedBuffer& each, int64_t done) {
    return pointer(done == 0 ? each.initial : done % 2 == 0 ? each.final : each.spare);
  };
  enter_inner(item.condition, block, frame);
  int64_t done = 0;
  for (; item.most < 0 || done < item.most; ++done) {
    set_iteration(item.condition, block, frame, done);
    for (size_t i = 0; i < item.carried.size(); ++i) pointer(item.asked[i]) = place(item.carried[i], done);
    if (!ask(item, frame, context)) break;
    if (done == 0) enter_inner(item.body, block, frame);
    set_iteration(item.body, block, frame, done);
    for (size_t i = 0; i < item.carried.size(); ++i) {
      pointer(item.carried[i].inside) = place(item.carried[i], done);
      lend_output(item.body, i, frame, place(item.carried[i], done + 1));
    }
    run_items(item.body, frame, context);
    for (size_t i = 0; i < item.carried.size(); ++i) copy_output(item.body, i, frame, place(item.carried[i], done + 1));
  }
  for (const lower::CarriedBuffer& each : item.carried) copy(pointer(each.final), place(each, done), bytes_of(each.initial, frame));
}

}  // namespace anyshape::runtime
