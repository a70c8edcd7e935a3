// Everything that a run asks of a program's sizes, added to the blocks' programs.
#include "runtime/size_plan.h"

#include "lower/random_symbols.h"

namespace anyshape::runtime {
namespace {

BlockSizes::OfScan plan_scan(const lower::ScanItem& scan, DimProgram& sizes) {
  BlockSizes::OfScan plan;
  plan.length = sizes.add(scan.length);
  if (scan.has_rows()) {
    plan.active = sizes.add(scan.rows.active);
    plan.rows = sizes.add(scan.rows.count);
    plan.total = sizes.add(scan.rows.total);
  }
  for (const lower::ScanItem::Carried& each : scan.carried)
    plan.carried.push_back({.row = sizes.add(each.last.stride), .later = sizes.add(each.later.stride)});
  for (const lower::ScanItem::Read& each : scan.reads) plan.reads.push_back(sizes.add(each.place.stride));
  for (const lower::ScanPlace& each : scan.stacked) plan.stacked.push_back(sizes.add(each.stride));
  return plan;
}

}  // namespace

SizePlan::SizePlan(const lower::Program& program, std::vector<Dim> symbols)
    : blocks(program.blocks.size()),
      launches(program.launches.size()),
      library_calls(program.library_calls.size()),
      counts(program.buffers.size()),
      is_update(program.buffers.size()) {
  if (program.uses_random) {
    random_slot = static_cast<int>(symbols.size());
    symbols.push_back(lower::random_key_symbol());
    symbols.push_back(lower::random_counter_symbol());
  }
  symbols.insert(symbols.end(), program.scan_sizes.begin(), program.scan_sizes.end());
  std::vector<Dim> late;
  for (const lower::DataSize& size : program.data_sizes) late.push_back(size.symbol);
  blocks[0].sizes = DimProgram(symbols, late);
  symbols.insert(symbols.end(), late.begin(), late.end());  // a region is entered when it has those it needs
  for (size_t block = 1; block < blocks.size(); ++block) blocks[block].sizes = DimProgram(symbols);
  for (const lower::Update& update : program.updates)
    is_update[static_cast<size_t>(program.results[static_cast<size_t>(update.result)].buffer)] = true;
  std::vector<std::vector<int>> own(blocks.size());
  for (size_t i = 0; i < program.buffers.size(); ++i) own[static_cast<size_t>(program.buffers[i].block)].push_back(static_cast<int>(i));
  for (size_t block = 0; block < blocks.size(); ++block) plan_block(program, block, own[block]);
  for (const lower::ProgramResult& result : program.results) {
    std::vector<int>& slots = results.emplace_back();
    for (const Dim& dim : result.spec.shape) slots.push_back(blocks[0].sizes.add(dim));
  }
  for (const lower::DataSize& size : program.data_sizes) {
    data_size_bounds.push_back(blocks[0].sizes.add(size.bound));
    auto& slots = data_size_checks.emplace_back();
    for (const graph::Check& check : size.checks)
      slots.emplace_back(blocks[0].sizes.add(check.check.a), blocks[0].sizes.add(check.check.b));
  }
}

void SizePlan::plan_block(const lower::Program& program, size_t number, const std::vector<int>& own) {
  const lower::Block& block = program.blocks[number];
  BlockSizes& plan = blocks[number];
  for (const lower::Item& item : block.items) {
    const int* launch = std::get_if<int>(&item);
    const auto* scan = std::get_if<lower::ScanItem>(&item);
    BlockSizes::OfScan& of_scan = plan.items.emplace_back();
    if (scan != nullptr) of_scan = plan_scan(*scan, plan.sizes);
    if (const auto* library = std::get_if<lower::LibraryItem>(&item)) plan_library(program, library->call, plan);
    if (launch != nullptr) plan_launch(program, *launch, plan);
  }
  for (const int each : own) counts[static_cast<size_t>(each)] = plan.sizes.add(program.buffers[static_cast<size_t>(each)].count);
  for (const Dim& bytes : block.slots) plan.arena.push_back(plan.sizes.add(bytes));
  for (const lower::BlockOutput& output : block.outputs) plan.outputs.push_back(plan.sizes.add(output.count));
  for (const int each : own) {
    const lower::ProgramBuffer& buffer = program.buffers[static_cast<size_t>(each)];
    const bool is_argument = buffer.kind == lower::BufferKind::Argument;
    const int slot = buffer.slot >= 0 ? plan.arena[static_cast<size_t>(buffer.slot)] : counts[static_cast<size_t>(each)];
    if (!is_update[static_cast<size_t>(each)])
      plan.placed.push_back({.buffer = each, .stage = is_argument ? 0 : plan.sizes.stage_of(slot)});
  }
  for (const graph::Check& check : block.checks) plan.checks.emplace_back(plan.sizes.add(check.check.a), plan.sizes.add(check.check.b));
  for (const lower::IndexedOp& op : block.indexed_ops) {
    std::vector<int>& slots = plan.limits.emplace_back();
    for (const Dim& limit : op.rule.limits) slots.push_back(plan.sizes.add(limit));
  }
}

void SizePlan::plan_launch(const lower::Program& program, int launch, BlockSizes& plan) {
  const auto number = static_cast<size_t>(launch);
  for (const Dim& dim : program.launches[number].dims) launches[number].push_back(plan.sizes.add(dim));
}

void SizePlan::plan_library(const lower::Program& program, int number, BlockSizes& plan) {
  const lower::LibraryCall& call = program.library_calls[static_cast<size_t>(number)];
  const auto slot = [&](const Dim& size) { return plan.sizes.add(size); };
  library_calls[static_cast<size_t>(number)] =
      std::visit([&](const auto& work) -> LibrarySizes<int> { return mapped<int>(work.sizes, slot); }, call.work);
  if (call.epilogue >= 0) plan_launch(program, call.epilogue, plan);
}

}  // namespace anyshape::runtime
