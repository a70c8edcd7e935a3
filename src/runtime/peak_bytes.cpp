// What a run holds, before it runs: as a number for given sizes, and as an expression in them. Memory of a region is kept to the end of the
// run, so the regions' arenas add up; of two branches the larger one counts, of a data-dependent size its bound.
#include "runtime/executable.h"
#include "runtime/frame.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"
#include "tensor/size_class.h"

#include <algorithm>

namespace anyshape::runtime {
namespace {

int64_t block_bytes(int64_t bytes) { return bytes == 0 ? 0 : capacity_of_class(size_class_of(bytes)); }

}  // namespace

// `symbols` as run() has them; the table of the block around is one, too.
int64_t Executable::peak_of_block(int block, const int64_t* symbols) const {
  const BlockSizes& plan = blocks_[static_cast<size_t>(block)];
  std::vector<int64_t> table(static_cast<size_t>(plan.sizes.slot_count()));
  plan.sizes.run(symbols, table.data());
  int64_t peak = block_bytes(arena_bytes(plan, 0, table, nullptr));
  if (block == 0) {
    for (size_t late = 0; late < program_.data_sizes.size(); ++late) {
      const int stage = static_cast<int>(late) + 1;
      plan.sizes.resume(stage, table[static_cast<size_t>(data_size_bounds_[late])], table.data());
      peak += block_bytes(arena_bytes(plan, stage, table, nullptr));
    }
    for (const int own : plan.own) {
      const lower::ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(own)];
      if (buffer.kind != lower::BufferKind::Result || is_update_[static_cast<size_t>(own)]) continue;
      const int64_t bytes = table[static_cast<size_t>(count_slots_[static_cast<size_t>(own)])] * size_of(buffer.dtype);
      peak += capacity_of_class(size_class_of(bytes));
    }
  }
  const std::vector<lower::Item>& items = program_.blocks[static_cast<size_t>(block)].items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (const auto* branch = std::get_if<lower::BranchItem>(&items[i])) {
      peak += std::max(peak_of_block(branch->then, table.data()), peak_of_block(branch->otherwise, table.data()));
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&items[i])) {
      peak += peak_of_block(loop->condition, table.data()) + peak_of_block(loop->body, table.data());
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&items[i])) {
      const BlockSizes::OfScan& sizes = plan.items[i];
      int64_t parts = 1;
      if (scan->has_rows()) {
        const int64_t rows = table[static_cast<size_t>(sizes.rows)];
        if (scan->rows.apart) parts = row_blocks(rows, scan->rows.counts >= 0);
        table[static_cast<size_t>(sizes.active)] = (rows + parts - 1) / parts;
      }
      if (table[static_cast<size_t>(sizes.length)] > 0) peak += parts * peak_of_block(scan->body, table.data());
    }
  }
  return peak;
}

int64_t Executable::peak_bytes(std::span<const int64_t> symbol_values) const {
  std::vector<int64_t> symbols(symbol_values.begin(), symbol_values.end());
  symbols.resize(symbols.size() + (random_slot_ >= 0 ? 2 : 0) + program_.scan_sizes.size());
  return peak_of_block(0, symbols.data());
}

Dim Executable::arena_of_block(int block) const {
  Dim sum = 0;
  for (const Dim& bytes : program_.blocks[static_cast<size_t>(block)].slots) sum = sum + bytes;
  for (const lower::Item& item : program_.blocks[static_cast<size_t>(block)].items) {
    if (const auto* branch = std::get_if<lower::BranchItem>(&item)) {
      sum = sum + max(arena_of_block(branch->then), arena_of_block(branch->otherwise));
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&item)) {
      sum = sum + arena_of_block(loop->condition) + arena_of_block(loop->body);
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&item)) {
      const Dim body = arena_of_block(scan->body);
      sum = sum + (scan->has_rows() ? substitute(body, {{as_symbol(scan->rows.active)->id, scan->rows.count}}) : body);
    }
  }
  return sum;
}

Executable::Peak Executable::peak() const {
  Peak peak{.arena = arena_of_block(0), .results = 0};
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const lower::ProgramBuffer& buffer = program_.buffers[i];
    if (buffer.kind == lower::BufferKind::Result && !is_update_[i]) peak.results = peak.results + buffer.count * size_of(buffer.dtype);
  }
  for (size_t late = program_.data_sizes.size(); late-- > 0;) {
    const Substitution bound{{as_symbol(program_.data_sizes[late].symbol)->id, program_.data_sizes[late].bound}};
    peak.arena = substitute(peak.arena, bound);
    peak.results = substitute(peak.results, bound);
  }
  return peak;
}

}  // namespace anyshape::runtime
