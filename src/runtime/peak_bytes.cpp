// Memory of a region is kept to the end of the run, so the regions' arenas add up; of two branches the larger one counts, of a data-dependent
// size its bound.
#include "runtime/peak_bytes.h"

#include "runtime/item_run.h"
#include "runtime/memory_layout.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"
#include "tensor/size_class.h"

#include <algorithm>

namespace anyshape::runtime {
namespace {

using lower::Program;

int64_t block_bytes(int64_t bytes) { return bytes == 0 ? 0 : capacity_of_class(size_class_of(bytes)); }

// Of what waits for data-dependent sizes, and of results.
int64_t peak_of_stages(const Program& program, const SizePlan& sizes, std::vector<int64_t>& table) {
  const BlockSizes& plan = sizes.blocks[0];
  int64_t peak = 0;
  for (size_t late = 0; late < program.data_sizes.size(); ++late) {
    const int stage = static_cast<int>(late) + 1;
    plan.sizes.resume(stage, table[static_cast<size_t>(sizes.data_size_bounds[late])], table.data());
    peak += block_bytes(arena_bytes(plan, stage, table, nullptr));
  }
  for (const BlockSizes::Placed& placed : plan.placed) {
    const lower::ProgramBuffer& buffer = program.buffers[static_cast<size_t>(placed.buffer)];
    if (buffer.kind != lower::BufferKind::Result) continue;
    const int64_t bytes = table[static_cast<size_t>(sizes.counts[static_cast<size_t>(placed.buffer)])] * size_of(buffer.dtype);
    peak += capacity_of_class(size_class_of(bytes));
  }
  return peak;
}

// `symbols` as a run has them; the table of the block around is one, too.
int64_t peak_of_block(const Program& program, const SizePlan& sizes, int block, const int64_t* symbols) {
  const BlockSizes& plan = sizes.block(block);
  std::vector<int64_t> table(static_cast<size_t>(plan.sizes.slot_count()));
  plan.sizes.run(symbols, table.data());
  int64_t peak = block_bytes(arena_bytes(plan, 0, table, nullptr));
  if (block == 0) peak += peak_of_stages(program, sizes, table);
  const auto peak_of_inner = [&](int inner) { return peak_of_block(program, sizes, inner, table.data()); };
  const std::vector<lower::Item>& items = program.blocks[static_cast<size_t>(block)].items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (const auto* branch = std::get_if<lower::BranchItem>(&items[i])) {
      peak += std::max(peak_of_inner(branch->then), peak_of_inner(branch->otherwise));
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&items[i])) {
      peak += block_bytes(1) + peak_of_inner(loop->condition) + peak_of_inner(loop->body);
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&items[i])) {
      const BlockSizes::OfScan& of_scan = plan.items[i];
      int64_t parts = 1;
      if (scan->has_rows()) {
        const int64_t rows = table[static_cast<size_t>(of_scan.rows)];
        if (scan->rows.apart) parts = row_blocks(rows, scan->rows.counts >= 0);
        table[static_cast<size_t>(of_scan.active)] = (rows + parts - 1) / parts;
      }
      if (table[static_cast<size_t>(of_scan.length)] > 0) peak += parts * peak_of_inner(scan->body);
    }
  }
  return peak;
}

Dim arena_of_block(const Program& program, int block) {
  Dim sum = 0;
  for (const Dim& bytes : program.blocks[static_cast<size_t>(block)].slots) sum = sum + bytes;
  for (const lower::Item& item : program.blocks[static_cast<size_t>(block)].items) {
    if (const auto* branch = std::get_if<lower::BranchItem>(&item)) {
      sum = sum + max(arena_of_block(program, branch->then), arena_of_block(program, branch->otherwise));
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&item)) {
      sum = sum + arena_of_block(program, loop->condition) + arena_of_block(program, loop->body);
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&item)) {
      const Dim body = arena_of_block(program, scan->body);
      sum = sum + (scan->has_rows() ? substitute(body, {{as_symbol(scan->rows.active)->id, scan->rows.count}}) : body);
    }
  }
  return sum;
}

}  // namespace

int64_t peak_bytes(const Executable& executable, std::span<const int64_t> symbol_values) {
  const Program& program = executable.program();
  std::vector<int64_t> symbols(symbol_values.begin(), symbol_values.end());
  symbols.resize(symbols.size() + (program.uses_random ? 2 : 0) + program.scan_sizes.size());
  return peak_of_block(program, executable.sizes(), 0, symbols.data());
}

Peak peak_of(const Executable& executable) {
  const Program& program = executable.program();
  Peak peak{.arena = arena_of_block(program, 0), .results = 0};
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const lower::ProgramBuffer& buffer = program.buffers[i];
    if (buffer.kind == lower::BufferKind::Result && !executable.sizes().is_update[i])
      peak.results = peak.results + buffer.count * size_of(buffer.dtype);
  }
  for (size_t late = program.data_sizes.size(); late-- > 0;) {
    const Substitution bound{{as_symbol(program.data_sizes[late].symbol)->id, program.data_sizes[late].bound}};
    peak.arena = substitute(peak.arena, bound);
    peak.results = substitute(peak.results, bound);
  }
  return peak;
}

}  // namespace anyshape::runtime
