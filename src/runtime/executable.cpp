// Running a program: evaluate sizes, lay out memory, call the kernels in order.
#include "runtime/executable.h"

#include "base/checked.h"
#include "base/float_state.h"
#include "base/thread_object.h"
#include "graph/check.h"
#include "graph/layer_path.h"
#include "loop/interpret.h"
#include "lower/random_symbols.h"
#include "runtime/cpu/externs.h"
#include "runtime/frame.h"
#include "runtime/cpu/pool.h"
#include "tensor/make_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/tensor_list.h>

#include <fmt/format.h>

#include <bit>

namespace anyshape::runtime {

Executable::Executable(lower::Program program, std::vector<Dim> symbols, std::vector<AsKernel> entries, std::shared_ptr<const void> code)
    : program_(std::move(program)),
      entries_(std::move(entries)),
      code_(std::move(code)),
      times_(program_.launches.size() + program_.library_calls.size()) {
  if (program_.uses_random) {
    random_slot_ = static_cast<int>(symbols.size());
    symbols.push_back(lower::random_key_symbol());
    symbols.push_back(lower::random_counter_symbol());
  }
  symbols.insert(symbols.end(), program_.scan_sizes.begin(), program_.scan_sizes.end());
  launch_slots_.resize(program_.launches.size());
  library_slots_.resize(program_.library_calls.size());
  count_slots_.resize(program_.buffers.size());
  blocks_.resize(program_.blocks.size());
  is_update_.resize(program_.buffers.size());
  for (const lower::Update& update : program_.updates) is_update_[program_.results[update.result].buffer] = true;
  std::vector<Dim> late;
  for (const lower::DataSize& size : program_.data_sizes) late.push_back(size.symbol);
  blocks_[0].sizes = DimProgram(symbols, late);
  symbols.insert(symbols.end(), late.begin(), late.end());  // a region is entered when it has those it needs
  for (size_t block = 1; block < blocks_.size(); ++block) blocks_[block].sizes = DimProgram(symbols);
  for (size_t i = 0; i < program_.buffers.size(); ++i)
    blocks_[static_cast<size_t>(program_.buffers[i].block)].own.push_back(static_cast<int>(i));
  for (size_t block = 0; block < blocks_.size(); ++block) plan_block(block);
  for (const lower::ProgramResult& result : program_.results) {
    std::vector<int>& slots = result_slots_.emplace_back();
    for (const Dim& dim : result.spec.shape) slots.push_back(blocks_[0].sizes.add(dim));
  }
  for (const lower::DataSize& size : program_.data_sizes) {
    data_size_bounds_.push_back(blocks_[0].sizes.add(size.bound));
    auto& slots = data_size_checks_.emplace_back();
    for (const graph::Check& check : size.checks)
      slots.emplace_back(blocks_[0].sizes.add(check.check.a), blocks_[0].sizes.add(check.check.b));
  }
}

void Executable::plan_block(size_t number) {
  const lower::Block& block = program_.blocks[number];
  BlockSizes& plan = blocks_[number];
  for (const lower::Item& item : block.items) {
    const int* launch = std::get_if<int>(&item);
    const auto* scan = std::get_if<lower::ScanItem>(&item);
    BlockSizes::OfScan& of_scan = plan.items.emplace_back();
    if (scan != nullptr) of_scan.length = plan.sizes.add(scan->length);
    if (scan != nullptr && scan->has_rows()) {
      of_scan.active = plan.sizes.add(scan->rows.active);
      of_scan.rows = plan.sizes.add(scan->rows.count);
      of_scan.total = plan.sizes.add(scan->rows.total);
    }
    if (const auto* library = std::get_if<lower::LibraryItem>(&item)) plan_library(library->call, plan);
    if (launch == nullptr) continue;
    for (const Dim& dim : program_.launches[static_cast<size_t>(*launch)].dims)
      launch_slots_[static_cast<size_t>(*launch)].push_back(plan.sizes.add(dim));
  }
  for (const int own : plan.own) count_slots_[static_cast<size_t>(own)] = plan.sizes.add(program_.buffers[static_cast<size_t>(own)].count);
  for (const Dim& bytes : block.slots) plan.arena.push_back(plan.sizes.add(bytes));
  for (const lower::BlockOutput& output : block.outputs) plan.outputs.push_back(plan.sizes.add(output.count));
  for (const int own : plan.own) {
    const lower::ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(own)];
    const bool is_argument = buffer.kind == lower::BufferKind::Argument;
    const int slot = buffer.slot >= 0 ? plan.arena[static_cast<size_t>(buffer.slot)] : count_slots_[static_cast<size_t>(own)];
    plan.own_stages.push_back(is_argument ? 0 : plan.sizes.stage_of(slot));
  }
  for (const graph::Check& check : block.checks) plan.checks.emplace_back(plan.sizes.add(check.check.a), plan.sizes.add(check.check.b));
  for (const lower::IndexedOp& op : block.indexed_ops) {
    std::vector<int>& slots = plan.limits.emplace_back();
    for (const Dim& limit : op.rule.limits) slots.push_back(plan.sizes.add(limit));
  }
}

std::vector<Tensor> Executable::run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random,
                                    VariableWriter* variables) const {
  Frame& frame = ThreadObject<Frame, Executable>::get();
  const Frame::Release release{frame};
  const int64_t* values = symbol_values.data();
  if (random_slot_ >= 0 || !program_.scan_sizes.empty()) {
    frame.symbols.assign(symbol_values.begin(), symbol_values.end());
    if (random_slot_ >= 0) frame.symbols.push_back(random.key), frame.symbols.push_back(random.counter);
    frame.symbols.resize(frame.symbols.size() + program_.scan_sizes.size());  // nothing outside the loops depends on them
    values = frame.symbols.data();
  }
  if (frame.blocks.size() < blocks_.size()) frame.blocks.resize(blocks_.size());
  frame.pointers.resize(program_.buffers.size());
  frame.results.assign(program_.buffers.size(), nullptr);
  enter(0, frame, values, arguments);
  AsContext context = make_context(Pool::shared());
  const FlushDenormals flush;
  const size_t items = program_.blocks[0].items.size();
  const size_t first_update = program_.updates.empty() ? items : static_cast<size_t>(program_.first_update);
  run_items(0, 0, first_update, frame, context);
  place_updates(frame, arguments, variables);
  std::vector<Tensor> results = wrap_results(frame, arguments);
  run_items(0, first_update, items, frame, context);
  return results;
}

// Over the old value where nobody else can see it, else beside it: what may fail for lack of memory fails before the first is written.
void Executable::place_updates(Frame& frame, std::span<const Tensor> arguments, VariableWriter* variables) const {
  if (program_.updates.empty()) return;
  if (variables != nullptr) variables->begin();
  for (const lower::Update& update : program_.updates) {
    const auto number = static_cast<size_t>(program_.results[static_cast<size_t>(update.result)].buffer);
    const bool in_place = variables != nullptr && variables->may_write_over(update.argument);
    frame.results[number] =
        in_place ? arguments[static_cast<size_t>(update.argument)].impl()->buffer() : allocate(bytes_of(static_cast<int>(number), frame));
    frame.pointers[number] = frame.results[number]->pointer;
  }
}

// Sizes, checks, memory. The arguments are those of the whole program.
void Executable::enter(int block, Frame& frame, const int64_t* symbols, std::span<const Tensor> arguments) const {
  const DimProgram& sizes = blocks_[static_cast<size_t>(block)].sizes;
  std::vector<int64_t>& table = frame.table(block);
  table.resize(static_cast<size_t>(sizes.slot_count()));
  sizes.run(symbols, table.data());
  require_checks(block, frame);
  lay_out(block, 0, frame, arguments);
}

void Executable::require_checks(int block, const Frame& frame) const {
  const BlockSizes& plan = blocks_[static_cast<size_t>(block)];
  for (size_t i = 0; i < plan.checks.size(); ++i) {
    const auto [a, b] = plan.checks[i];
    const std::vector<int64_t>& table = frame.table(block);
    const graph::Check& check = program_.blocks[static_cast<size_t>(block)].checks[i];
    const int64_t left = table[static_cast<size_t>(a)], right = table[static_cast<size_t>(b)];
    if (holds(check.check.relation, left, right)) continue;
    graph::throw_failed(check, left, right, "a branch or loop body");
  }
}

// What the item before left in memory: the sizes, checks and buffers that waited for it.
void Executable::read_size(size_t late, Frame& frame) const {
  const lower::DataSize& size = program_.data_sizes[late];
  const int stage = static_cast<int>(late) + 1;
  std::vector<int64_t>& table = frame.table(0);
  blocks_[0].sizes.resume(stage, *static_cast<const int64_t*>(frame.pointers[static_cast<size_t>(size.buffer)]), table.data());
  for (size_t i = 0; i < size.checks.size(); ++i) {
    const int64_t a = table[static_cast<size_t>(data_size_checks_[late][i].first)],
                  b = table[static_cast<size_t>(data_size_checks_[late][i].second)];
    if (!holds(size.checks[i].check.relation, a, b))
      graph::throw_failed(size.checks[i], a, b, fmt::format("function \"{}\"", program_.name));
  }
  lay_out(0, stage, frame, {});
}

// Of the slots of one stage, one after the other; `offsets` are filled where they are asked for.
int64_t Executable::arena_bytes(const BlockSizes& plan, int stage, const std::vector<int64_t>& table, std::vector<int64_t>* offsets) {
  constexpr int64_t alignment = 64;
  int64_t bytes = 0;
  for (size_t slot = 0; slot < plan.arena.size(); ++slot) {
    if (plan.sizes.stage_of(plan.arena[slot]) != stage) continue;
    if (offsets != nullptr) (*offsets)[slot] = bytes;
    const int64_t needed = checked_add(table[static_cast<size_t>(plan.arena[slot])], loop::load_slack, "arena");
    bytes = checked_add(bytes, checked_round_up(needed, alignment), "arena");
  }
  // In powers of two: a stream of sizes meets a block it has used before, and not fresh pages at every new maximum.
  constexpr int64_t most_rounded = int64_t{1} << 40;
  if (bytes > 0 && bytes <= most_rounded) bytes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
  return bytes;
}

// Memory of the buffers whose sizes are known from this stage on.
void Executable::lay_out(int block, int stage, Frame& frame, std::span<const Tensor> arguments) const {
  const BlockSizes& plan = blocks_[static_cast<size_t>(block)];
  const std::vector<int64_t>& table = frame.table(block);
  Frame::OfBlock& memory = frame.blocks[static_cast<size_t>(block)];
  memory.slot_offsets.resize(plan.arena.size());
  const int64_t bytes = arena_bytes(plan, stage, table, &memory.slot_offsets);
  // A region that is entered again, for another time step or size, finds the arena it had.
  if (stage == 0 && !memory.arenas.empty() && memory.arenas[0]->bytes < bytes) memory.arenas.clear();
  if (bytes > 0 && (stage > 0 || memory.arenas.empty())) memory.arenas.push_back(allocate(bytes));
  for (size_t own = 0; own < plan.own.size(); ++own) {
    if (plan.own_stages[own] != stage) continue;
    const auto i = static_cast<size_t>(plan.own[own]);
    const lower::ProgramBuffer& buffer = program_.buffers[i];
    switch (buffer.kind) {
      case lower::BufferKind::Argument: frame.pointers[i] = arguments[buffer.argument].impl()->device_address(); break;
      case lower::BufferKind::Result:
        if (is_update_[i]) break;  // place_updates
        frame.results[i] = allocate(checked_bytes(table[count_slots_[i]], size_of(buffer.dtype)));
        frame.pointers[i] = frame.results[i]->pointer;
        break;
      case lower::BufferKind::Temporary:
        frame.pointers[i] = static_cast<char*>(memory.arenas.back()->pointer) + memory.slot_offsets[buffer.slot];
        break;
      case lower::BufferKind::Lent: break;
    }
  }
}

void Executable::run_items(int block, Frame& frame, AsContext& context) const {
  run_items(block, 0, program_.blocks[static_cast<size_t>(block)].items.size(), frame, context);
}

// Those in [first, last). No data-dependent size is read after the first update.
void Executable::run_items(int block, size_t first, size_t last, Frame& frame, AsContext& context) const {
  size_t late = block == 0 && first == 0 ? 0 : program_.data_sizes.size();  // the next to be read
  const std::vector<lower::Item>& items = program_.blocks[static_cast<size_t>(block)].items;
  for (size_t i = first; i < last; ++i) {
    if (const int* launch = std::get_if<int>(&items[i])) {
      run_launch(block, *launch, frame, context);
    } else if (const auto* library = std::get_if<lower::LibraryItem>(&items[i])) {
      run_library(block, library->call, frame, context);
    } else if (const auto* branch = std::get_if<lower::BranchItem>(&items[i])) {
      run_branch(*branch, block, frame, context);
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&items[i])) {
      run_scan(*scan, blocks_[static_cast<size_t>(block)].items[i], block, frame, context);
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&items[i])) {
      run_while(*loop, block, frame, context);
    }
    if (late < program_.data_sizes.size() && program_.data_sizes[late].item == static_cast<int>(i)) read_size(late++, frame);
  }
}

// The sizes and pointers of a launch.
void Executable::fill_launch(int block, int launch, Frame& frame) const {
  const auto number = static_cast<size_t>(launch);
  const std::vector<int64_t>& table = frame.table(block);
  frame.dims.clear();
  for (int slot : launch_slots_[number]) frame.dims.push_back(table[slot]);
  frame.buffers.clear();
  for (int buffer : program_.launches[number].buffers) frame.buffers.push_back(frame.pointers[buffer]);
}

void Executable::run_launch(int block, int launch, Frame& frame, AsContext& context) const {
  const auto number = static_cast<size_t>(launch);
  const lower::Launch& planned = program_.launches[number];
  fill_launch(block, launch, frame);
  const int64_t start = times_.is_on() ? times_.now() : 0;
  const int32_t status = entries_.empty() ? loop::interpret(*planned.kernel, &context, frame.buffers, frame.dims, find_extern)
                                          : entries_[number](&context, frame.buffers.data(), frame.dims.data());
  if (times_.is_on()) times_.add(number, start);
  if (status != 0) fail(block, context.failure, frame);
}

std::vector<Tensor> Executable::wrap_results(Frame& frame, std::span<const Tensor> arguments) const {
  std::vector<Tensor> results = detail::take_tensor_list();
  results.reserve(program_.results.size());
  for (size_t i = 0; i < program_.results.size(); ++i) {
    const lower::ProgramResult& result = program_.results[i];
    const lower::ProgramBuffer& buffer = program_.buffers[result.buffer];
    auto impl = make_impl();
    impl->dtype = result.spec.dtype;
    impl->rank = static_cast<int8_t>(result_slots_[i].size());
    int64_t stride = 1;
    for (int axis = impl->rank - 1; axis >= 0; --axis) {
      impl->sizes[axis] = frame.table(0)[result_slots_[i][axis]];
      impl->strides[axis] = stride;
      // Only the strides of an empty tensor can overflow, and nobody walks along those.
      if (int64_t next; !__builtin_mul_overflow(stride, std::max<int64_t>(impl->sizes[axis], 1), &next)) stride = next;
    }
    if (buffer.kind == lower::BufferKind::Argument) {  // an argument handed through, perhaps under another shape
      impl->set_buffer(arguments[buffer.argument].impl()->buffer());
      impl->offset = arguments[buffer.argument].impl()->offset;
    } else {
      impl->set_buffer(frame.results[result.buffer]);
    }
    results.push_back(Tensor(std::move(impl)));
  }
  return results;
}

void Executable::fail(int block, const AsFailure& failure, const Frame& frame) const {
  if (failure.code == rows_differ) {
    throw ShapeError(
        fmt::format("ragged operands: rows differ: row {} has {} elements in one and another number in the other; expected "
                    "operands with equal rows.{}",
                    failure.index, failure.value, current_place()));
  }
  const std::vector<lower::IndexedOp>& ops = program_.blocks[static_cast<size_t>(block)].indexed_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    const lower::IndexedOp& op = ops[i];
    if (failure.code == routine_failed || op.number != failure.op) continue;
    const std::vector<int>& slots = blocks_[static_cast<size_t>(block)].limits[i];
    const int64_t limit = frame.table(block)[slots[static_cast<size_t>(failure.index) % slots.size()]];
    const std::string& place = op.place.empty() ? current_place() : op.place;
    if (failure.code == splits_out_of_order) {
      throw DataError(
          fmt::format("{}: row split {} at position {} is out of order; expected splits that begin at 0, never decrease and end at {}.{}",
                      op.name, failure.value, failure.index, limit, place));
    }
    if (failure.code == empty_row) {
      throw DataError(fmt::format("{}: row {} is empty; expected at least one element in every row.{}", op.name, failure.index, place));
    }
    if (failure.code == row_too_long) {
      throw ShapeError(fmt::format("{}: the mask ends before row {}, which has {} elements; expected a mask as long as the longest row.{}",
                                   op.name, failure.index, failure.value, place));
    }
    const int64_t least = op.rule.from_end ? -limit : 0;
    if (failure.value == std::numeric_limits<int32_t>::min()) {  // what layers and losses make of 0.5, which only a kernel has seen
      throw DataError(
          fmt::format("{}: the index at position {} is no whole number, or too large for one; expected whole numbers, {} <= index < "
                      "{}. Round floating ids, or give them as i32 or i64.{}",
                      op.name, failure.index, least, limit, place));
    }
    throw DataError(fmt::format("{}: index {} at position {} is out of range; expected {} <= index < {}.{}", op.name, failure.value,
                                failure.index, least, limit, place));
  }
  throw InternalError(
      fmt::format("a kernel failed with code {} (op {}, index {}, value {})", failure.code, failure.op, failure.index, failure.value));
}

}  // namespace anyshape::runtime
