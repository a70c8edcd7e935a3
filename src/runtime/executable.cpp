// Running a program: evaluate sizes, lay out memory, call the kernels in order.
#include "runtime/executable.h"

#include "base/checked.h"
#include "base/float_state.h"
#include "loop/interpret.h"
#include "lower/random_symbols.h"
#include "runtime/externs.h"
#include "runtime/pool.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <bit>

namespace anyshape::runtime {

// Kept per thread, so that a call after the first allocates nothing here. Kernels never call back into run().
struct Executable::Frame {
  std::vector<int64_t> symbols;
  std::vector<int64_t> table;
  std::vector<void*> pointers;                   // per program buffer
  std::vector<std::shared_ptr<Buffer>> results;  // per program buffer, for those of kind Result
  std::vector<int64_t> dims;                     // of the step being run
  std::vector<void*> buffers;
  std::vector<int64_t> slot_offsets;
  std::shared_ptr<Buffer> arena;

  // Memory of a run goes back at its end, also when it fails.
  struct Release {
    Frame& frame;
    ~Release() {
      frame.arena.reset();
      frame.results.clear();
    }
  };
};

Executable::Executable(lower::Program program, std::vector<Dim> symbols, std::vector<AsKernel> entries, std::shared_ptr<const void> code)
    : program_(std::move(program)), entries_(std::move(entries)), code_(std::move(code)) {
  if (program_.uses_random) {
    random_slot_ = static_cast<int>(symbols.size());
    symbols.push_back(lower::random_key_symbol());
    symbols.push_back(lower::call_id_symbol());
  }
  sizes_ = DimProgram(symbols);
  for (const lower::Step& step : program_.steps) {
    std::vector<int>& slots = step_slots_.emplace_back();
    for (const Dim& dim : step.dims) slots.push_back(sizes_.add(dim));
  }
  for (const lower::ProgramBuffer& buffer : program_.buffers) count_slots_.push_back(sizes_.add(buffer.count));
  for (const Dim& bytes : program_.slots) arena_slots_.push_back(sizes_.add(bytes));
  for (const lower::ProgramResult& result : program_.results) {
    std::vector<int>& slots = result_slots_.emplace_back();
    for (const Dim& dim : result.spec.shape) slots.push_back(sizes_.add(dim));
  }
  for (const lower::IndexedOp& op : program_.indexed_ops) {
    std::vector<int>& slots = limit_slots_.emplace_back();
    for (const Dim& limit : op.limits) slots.push_back(sizes_.add(limit));
  }
}

std::vector<Tensor> Executable::run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random) const {
  thread_local Frame frame;
  const Frame::Release release{frame};
  const int64_t* values = symbol_values.data();
  if (random_slot_ >= 0) {
    frame.symbols.assign(symbol_values.begin(), symbol_values.end());
    frame.symbols.push_back(random.key);
    frame.symbols.push_back(random.call_id);
    values = frame.symbols.data();
  }
  frame.table.resize(sizes_.slot_count());
  sizes_.run(values, frame.table.data());
  lay_out(frame, arguments);
  AsContext context = make_context(Pool::shared());
  const FlushDenormals flush;
  for (size_t step = 0; step < program_.steps.size(); ++step) run_step(step, frame, context);
  return wrap_results(frame, arguments);
}

void Executable::lay_out(Frame& frame, std::span<const Tensor> arguments) const {
  const std::vector<int64_t>& table = frame.table;
  constexpr int64_t alignment = 64;
  int64_t bytes = 0;
  frame.slot_offsets.resize(arena_slots_.size());
  for (size_t slot = 0; slot < arena_slots_.size(); ++slot) {
    frame.slot_offsets[slot] = bytes;
    const int64_t needed = checked_add(table[arena_slots_[slot]], loop::load_slack, "arena");
    bytes = checked_add(bytes, checked_round_up(needed, alignment), "arena");
  }
  // In powers of two: a stream of sizes meets a block it has used before, and not fresh pages at every new maximum.
  constexpr int64_t most_rounded = int64_t{1} << 40;
  if (bytes <= most_rounded) bytes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
  frame.arena = program_.slots.empty() ? nullptr : allocate(bytes);
  frame.pointers.resize(program_.buffers.size());
  frame.results.assign(program_.buffers.size(), nullptr);
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const lower::ProgramBuffer& buffer = program_.buffers[i];
    switch (buffer.kind) {
      case lower::BufferKind::Argument: frame.pointers[i] = arguments[buffer.argument].impl()->data(); break;
      case lower::BufferKind::Result:
        frame.results[i] = allocate(checked_bytes(table[count_slots_[i]], size_of(buffer.dtype)));
        frame.pointers[i] = frame.results[i]->pointer;
        break;
      case lower::BufferKind::Temporary:
        frame.pointers[i] = static_cast<char*>(frame.arena->pointer) + frame.slot_offsets[buffer.slot];
        break;
    }
  }
}

void Executable::run_step(size_t step, Frame& frame, AsContext& context) const {
  const lower::Step& program_step = program_.steps[step];
  frame.dims.clear();
  for (int slot : step_slots_[step]) frame.dims.push_back(frame.table[slot]);
  frame.buffers.clear();
  for (int buffer : program_step.buffers) frame.buffers.push_back(frame.pointers[buffer]);
  const int32_t status = entries_.empty() ? loop::interpret(program_step.kernel, &context, frame.buffers, frame.dims, find_extern)
                                          : entries_[step](&context, frame.buffers.data(), frame.dims.data());
  if (status != 0) fail(context.failure, frame);
}

std::vector<Tensor> Executable::wrap_results(Frame& frame, std::span<const Tensor> arguments) const {
  std::vector<Tensor> results;
  results.reserve(program_.results.size());
  for (size_t i = 0; i < program_.results.size(); ++i) {
    const lower::ProgramResult& result = program_.results[i];
    const lower::ProgramBuffer& buffer = program_.buffers[result.buffer];
    auto impl = std::make_shared<TensorImpl>();
    impl->dtype = result.spec.dtype;
    impl->rank = static_cast<int8_t>(result_slots_[i].size());
    int64_t stride = 1;
    for (int axis = impl->rank - 1; axis >= 0; --axis) {
      impl->sizes[axis] = frame.table[result_slots_[i][axis]];
      impl->strides[axis] = stride;
      // Only the strides of an empty tensor can overflow, and nobody walks along those.
      if (int64_t next; !__builtin_mul_overflow(stride, std::max<int64_t>(impl->sizes[axis], 1), &next)) stride = next;
    }
    if (buffer.kind == lower::BufferKind::Argument) {  // an argument handed through, perhaps under another shape
      impl->buffer = arguments[buffer.argument].impl()->buffer;
      impl->offset = arguments[buffer.argument].impl()->offset;
    } else {
      impl->buffer = frame.results[result.buffer];
    }
    results.push_back(Tensor(std::move(impl)));
  }
  return results;
}

void Executable::fail(const AsFailure& failure, const Frame& frame) const {
  for (size_t i = 0; i < program_.indexed_ops.size(); ++i) {
    const lower::IndexedOp& op = program_.indexed_ops[i];
    if (failure.code == routine_failed || op.number != failure.op) continue;
    const std::vector<int>& slots = limit_slots_[i];
    const int64_t limit = frame.table[slots[static_cast<size_t>(failure.index) % slots.size()]];
    if (failure.code == splits_out_of_order) {
      throw DataError(
          fmt::format("{}: row split {} at position {} is out of order; expected splits that begin at 0, never decrease and end at {}.",
                      op.name, failure.value, failure.index, limit));
    }
    if (failure.code == empty_row) {
      throw DataError(fmt::format("{}: row {} is empty; expected at least one element in every row.", op.name, failure.index));
    }
    throw DataError(fmt::format("{}: index {} at position {} is out of range; expected {} <= index < {}.", op.name, failure.value,
                                failure.index, -limit, limit));
  }
  throw InternalError(
      fmt::format("a kernel failed with code {} (op {}, index {}, value {})", failure.code, failure.op, failure.index, failure.value));
}

}  // namespace anyshape::runtime
