// The memory plan: slots of one arena per block, each a size expression. Offsets are added up when the sizes are known. A value takes, in
// this order: the slot of an input that its kernel reads for the last time, element by element as it writes; a free slot that is large
// enough; a free slot, which grows; a new one.
#include "base/switches.h"
#include "lower/lower.h"
#include "shape/dim_node.h"
#include "shape/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace anyshape::lower {
namespace {

class BlockPlan {
 public:
  BlockPlan(Program& program, int block, Decisions& decisions) : program_(program), block_(block), decisions_(decisions) {}

  void run() {
    std::vector<int> temporaries;
    for (int i = 0; i < static_cast<int>(program_.buffers.size()); ++i) {
      if (buffer(i).block == block_ && buffer(i).kind == BufferKind::Temporary) temporaries.push_back(i);
    }
    std::ranges::sort(temporaries, {}, [&](int i) { return std::pair(buffer(i).first_step, i); });
    for (const int each : temporaries) place(each);
    std::vector<Dim>& planned = program_.blocks[static_cast<size_t>(block_)].slots;
    planned.clear();
    for (const Slot& slot : slots_) planned.push_back(slot.bytes);
  }

 private:
  struct Slot {
    Dim bytes;
    int owner;  // the buffer that has it now, or had it last
  };

  ProgramBuffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }

  void place(int number) {
    const Dim bytes = buffer(number).count * size_of(buffer(number).dtype);
    Slot* slot = find_input(number);
    if (slot == nullptr && !is_switched_off("reuse_memory")) slot = find_free(number, bytes);
    if (slot == nullptr) slot = &slots_.emplace_back(Slot{bytes, number});
    slot->owner = number;
    buffer(number).slot = static_cast<int>(slot - slots_.data());
  }

  // The slot of an input that dies in the step that makes the value. Another output of the step that took it is its owner by then.
  Slot* find_input(int number) {
    const ProgramBuffer& output = buffer(number);
    if (output.first_step < 0) return nullptr;  // nothing touches it
    const int* step = std::get_if<int>(&program_.blocks[static_cast<size_t>(block_)].items[static_cast<size_t>(output.first_step)]);
    if (step == nullptr) return nullptr;
    const Step& made = program_.steps[static_cast<size_t>(*step)];
    if (made.access_of(number) != loop::Access::Out) return nullptr;
    for (const int input : made.buffers) {
      if (made.access_of(input) != loop::Access::Own) continue;
      const auto refusal = refusal_of(input, number);
      decisions_.push_back({"in_place", fmt::format("{} over {}", output.value, buffer(input).value), refusal.empty(),
                            std::string(refusal.empty() ? "it is read for the last time, each element before it is written" : refusal)});
      if (refusal.empty()) return &slots_[static_cast<size_t>(buffer(input).slot)];
    }
    return nullptr;
  }

  // Why an output cannot be written over an input of its loop; empty where it can.
  std::string_view refusal_of(int input, int output) {
    const ProgramBuffer& old = buffer(input);
    if (is_switched_off("in_place")) return "switched off";
    if (old.kind != BufferKind::Temporary || old.block != block_) return "it is not the arena's";
    if (old.last_step > buffer(output).first_step) return "it is read again";
    if (size_of(old.dtype) != size_of(buffer(output).dtype)) return "the elements differ in size";
    if (slots_[static_cast<size_t>(old.slot)].owner != input) return "another output is written over it";
    return {};
  }

  // The first that is large enough, else one that grows to hold both: never more than a slot beside it would take. What is small anyway stays
  // by itself, so that people can read what a call takes.
  Slot* find_free(int number, const Dim& bytes) {
    Slot* largest = nullptr;
    for (Slot& slot : slots_) {
      if (buffer(slot.owner).last_step >= buffer(number).first_step) continue;
      if (proves_less_equal(bytes, slot.bytes).value_or(false)) return &slot;
      if (is_small(slot.bytes)) continue;
      if (largest == nullptr || proves_less(largest->bytes, slot.bytes).value_or(false)) largest = &slot;
    }
    if (largest == nullptr || is_small(bytes) || is_found_late(bytes)) return nullptr;
    largest->bytes = max(largest->bytes, bytes);
    return largest;
  }

  static bool is_small(const Dim& bytes) { return bytes.is_constant() && bytes.value() <= 4096; }

  // A size that a step finds: memory that was laid out before cannot grow by it.
  bool is_found_late(const Dim& bytes) const {
    bool late = false;
    for_each_symbol(bytes, [&](const Symbol& symbol) {
      late =
          late || std::ranges::any_of(program_.late_sizes, [&](const LateSize& size) { return as_symbol(size.symbol)->id == symbol.id; });
    });
    return late;
  }

  Program& program_;
  int block_;
  Decisions& decisions_;
  std::vector<Slot> slots_;
};

}  // namespace

void plan_memory(Program& program, Decisions& decisions) {
  for (size_t block = 0; block < program.blocks.size(); ++block) BlockPlan(program, static_cast<int>(block), decisions).run();
}

}  // namespace anyshape::lower
