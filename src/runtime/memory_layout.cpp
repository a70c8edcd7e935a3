// Arenas grow in powers of two; a block that is entered again finds the one it had.
#include "runtime/memory_layout.h"

#include "base/checked.h"
#include "tensor/size_class.h"
#include "tensor/tensor_impl.h"

#include <bit>

namespace anyshape::runtime {

int64_t arena_bytes(const BlockSizes& sizes, int stage, const std::vector<int64_t>& table, std::vector<int64_t>* offsets) {
  constexpr int64_t alignment = 64;
  int64_t bytes = 0;
  for (size_t slot = 0; slot < sizes.arena.size(); ++slot) {
    if (sizes.sizes.stage_of(sizes.arena[slot]) != stage) continue;
    if (offsets != nullptr) (*offsets)[slot] = bytes;
    const int64_t needed = checked_add(table[static_cast<size_t>(sizes.arena[slot])], load_slack, "arena");
    bytes = checked_add(bytes, checked_round_up(needed, alignment), "arena");
  }
  // In powers of two: a stream of sizes meets a block it has used before, and not fresh pages at every new maximum.
  constexpr int64_t most_rounded = int64_t{1} << 40;
  if (bytes > 0 && bytes <= most_rounded) bytes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
  return bytes;
}

void lay_out(const lower::Program& program, const SizePlan& sizes, Memory& memory, int block, int stage, Record& record,
             std::span<const Tensor> arguments) {
  const BlockSizes& plan = sizes.block(block);
  const std::vector<int64_t>& table = record.table(block);
  Record::OfBlock& own = record.blocks[static_cast<size_t>(block)];
  own.slot_offsets.resize(plan.arena.size());
  const int64_t bytes = arena_bytes(plan, stage, table, &own.slot_offsets);
  // A region that is entered again, for another time step or size, finds the arena it had.
  if (stage == 0 && !own.arenas.empty() && own.arenas[0]->bytes < bytes) own.arenas.clear();
  if (bytes > 0 && (stage > 0 || own.arenas.empty())) own.arenas.push_back(allocate(bytes, memory));
  for (const BlockSizes::Placed& placed : plan.placed) {
    if (placed.stage != stage) continue;
    const auto i = static_cast<size_t>(placed.buffer);
    const lower::ProgramBuffer& buffer = program.buffers[i];
    switch (buffer.kind) {
      case lower::BufferKind::Argument: record.pointers[i] = arguments[buffer.argument].impl()->device_address(); break;
      case lower::BufferKind::Result:
        record.results[i] = allocate(checked_bytes(table[sizes.counts[i]], size_of(buffer.dtype)), memory);
        record.pointers[i] = record.results[i]->pointer;
        break;
      case lower::BufferKind::Temporary:
        record.pointers[i] = static_cast<char*>(own.arenas.back()->pointer) + own.slot_offsets[buffer.slot];
        break;
      case lower::BufferKind::Lent: break;
    }
  }
}

}  // namespace anyshape::runtime
