// Sizes, checks, memory.
#include "runtime/enter_block.h"

#include "graph/check.h"
#include "runtime/memory_layout.h"

#include <fmt/format.h>

namespace anyshape::runtime {
namespace {

void require_checks(const std::vector<graph::Check>& checks, const std::vector<std::pair<int, int>>& slots,
                    const std::vector<int64_t>& table, const auto& place) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const int64_t a = table[static_cast<size_t>(slots[i].first)], b = table[static_cast<size_t>(slots[i].second)];
    if (!holds(checks[i].check.relation, a, b)) graph::throw_failed(checks[i], a, b, place());
  }
}

}  // namespace

void enter_block(const Executable& executable, int block, Record& record, const int64_t* symbols, std::span<const Tensor> arguments) {
  const BlockSizes& plan = executable.sizes().block(block);
  std::vector<int64_t>& table = record.table(block);
  table.resize(static_cast<size_t>(plan.sizes.slot_count()));
  plan.sizes.run(symbols, table.data());
  require_checks(executable.program().blocks[static_cast<size_t>(block)].checks, plan.checks, table,
                 [] { return "a branch or loop body"; });
  lay_out(executable.program(), executable.sizes(), executable.memory(), block, 0, record, arguments);
}

void learn_size(const Executable& executable, size_t number, int64_t value, Record& record) {
  const lower::Program& program = executable.program();
  const SizePlan& sizes = executable.sizes();
  const int stage = static_cast<int>(number) + 1;
  std::vector<int64_t>& table = record.table(0);
  sizes.block(0).sizes.resume(stage, value, table.data());
  require_checks(program.data_sizes[number].checks, sizes.data_size_checks[number], table,
                 [&] { return fmt::format("function \"{}\"", program.name); });
  lay_out(program, sizes, executable.memory(), 0, stage, record, {});
}

int64_t bytes_of(const Executable& executable, int buffer, const Record& record) {
  const lower::ProgramBuffer& which = executable.program().buffers[static_cast<size_t>(buffer)];
  return record.table(which.block)[static_cast<size_t>(executable.sizes().counts[static_cast<size_t>(buffer)])] * size_of(which.dtype);
}

}  // namespace anyshape::runtime
