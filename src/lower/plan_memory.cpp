// The memory plan: slots of one arena per block, each a size expression. Offsets are added up when the sizes are known.
#include "lower/lower.h"
#include "shape/prove.h"

#include <algorithm>
#include <utility>

namespace anyshape::lower {
namespace {

void plan_block(Program& program, int block) {
  struct Slot {
    Dim bytes;
    int free_after;  // last step of its present owner
  };
  std::vector<Slot> slots;
  std::vector<ProgramBuffer*> temporaries;
  for (ProgramBuffer& buffer : program.buffers) {
    if (buffer.block == block && buffer.kind == BufferKind::Temporary) temporaries.push_back(&buffer);
  }
  std::ranges::sort(temporaries, {}, [](const ProgramBuffer* buffer) { return std::pair(buffer->first_step, buffer); });
  for (ProgramBuffer* buffer : temporaries) {
    const Dim bytes = buffer->count * size_of(buffer->dtype);
    const auto free = std::ranges::find_if(slots, [&](const Slot& slot) {
      return slot.free_after < buffer->first_step && proves_less_equal(bytes, slot.bytes).value_or(false);
    });
    if (free != slots.end()) {
      buffer->slot = static_cast<int>(free - slots.begin());
      free->free_after = buffer->last_step;
    } else {
      buffer->slot = static_cast<int>(slots.size());
      slots.push_back({bytes, buffer->last_step});
    }
  }
  std::vector<Dim>& planned = program.blocks[static_cast<size_t>(block)].slots;
  planned.clear();
  for (const Slot& slot : slots) planned.push_back(slot.bytes);
}

}  // namespace

void plan_memory(Program& program, [[maybe_unused]] Decisions& decisions) {
  for (size_t block = 0; block < program.blocks.size(); ++block) plan_block(program, static_cast<int>(block));
}

}  // namespace anyshape::lower
