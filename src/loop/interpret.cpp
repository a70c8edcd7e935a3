// The interpreter: one scalar per value, one instruction at a time, every loop in order.
#include "loop/interpret.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/float_state.h"
#include "loop/parts.h"
#include "loop/rules.h"
#include "loop/scalar.h"

namespace anyshape::loop {
namespace {

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, AsContext* context, std::span<void* const> buffers, std::span<const int64_t> dims, ExternLookup externs,
              MemoryWatch* watch)
      : kernel_(kernel),
        context_(context),
        buffers_(buffers),
        dims_(dims),
        externs_(externs),
        watch_(watch),
        values_(kernel.types.size()) {}

  int32_t run() { return run(kernel_.body); }

 private:
  Scalar& at(Value value) { return values_[static_cast<size_t>(value.id)]; }
  int64_t integer(Value value) { return at(value).as<int64_t>(); }
  Dtype type(Value value) const { return kernel_.types[static_cast<size_t>(value.id)]; }

  char* address(int32_t buffer, int64_t offset) {
    const auto number = static_cast<size_t>(buffer);
    return static_cast<char*>(buffers_[number]) + offset * size_of(kernel_.buffers[number].type);
  }

  int32_t run(const Block& block) {
    for (const Instruction& instruction : block) {
      if (const int32_t failure = run(instruction); failure != 0) return failure;
    }
    return 0;
  }

  int32_t run(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::Constant: at(instruction.results[0]) = scalar_of(instruction); return 0;
      case Op::Size: at(instruction.results[0]) = Scalar::of(dims_[static_cast<size_t>(instruction.integer)]); return 0;
      case Op::Load: load(instruction); return 0;
      case Op::Store: store(instruction); return 0;
      case Op::For: return run_for(instruction);
      case Op::Reduce: return run_reduce(instruction);
      case Op::If: return run(at(instruction.args[0]).as<bool>() ? instruction.body : instruction.otherwise);
      case Op::Call: return call(instruction);
      default: compute(instruction); return 0;
    }
  }

  void load(const Instruction& instruction) {
    Scalar value;
    const Dtype stored = kernel_.buffers[static_cast<size_t>(instruction.buffer)].type;
    const void* const place = address(instruction.buffer, integer(instruction.args[0]));
    if (watch_ != nullptr) watch_->read(place, size_of(stored));
    std::memcpy(&value.bits, place, static_cast<size_t>(size_of(stored)));
    // A b8 in memory is true for any byte but 0; as a value it is 0 or 1.
    if (instruction.type == Dtype::b8) value = Scalar::of<bool>(value.bits != 0);
    at(instruction.results[0]) = value;
  }

  void store(const Instruction& instruction) {
    const Dtype type = kernel_.buffers[static_cast<size_t>(instruction.buffer)].type;
    void* const place = address(instruction.buffer, integer(instruction.args[0]));
    if (watch_ != nullptr) watch_->write(place, size_of(type));
    std::memcpy(place, &at(instruction.args[1]).bits, static_cast<size_t>(size_of(type)));
  }

  void compute(const Instruction& instruction) {
    std::array<Scalar, 3> args;
    const size_t count = instruction.args.size();
    for (size_t i = 0; i < count; ++i) args[i] = at(instruction.args[i]);
    const Dtype operand = type(instruction.args[instruction.op == Op::Select ? 1 : 0]);
    at(instruction.results[0]) = evaluate(instruction.op, instruction.type, operand, std::span(args).first(count));
  }

  // Any cut does: here a row is one range, and all that is in order one run.
  int32_t run_ranges(const Instruction& loop) {
    const bool has_rows = loop.kind == LoopKind::Ranges;
    const int64_t rows = has_rows ? integer(loop.args[0]) : 1, begin = has_rows ? 0 : integer(loop.args[0]), end = integer(loop.args[1]);
    for (int64_t row = 0; row < rows && begin < end; ++row) {
      if (has_rows) at(loop.index) = Scalar::of(row);
      at(loop.carried[0]) = Scalar::of(begin);
      at(loop.carried[1]) = Scalar::of(end);
      if (const int32_t failure = run(loop.body); failure != 0) return failure;
    }
    return 0;
  }

  int32_t run_for(const Instruction& loop) {
    if (loop.kind == LoopKind::Ranges || loop.kind == LoopKind::Runs) return run_ranges(loop);
    const int64_t begin = integer(loop.args[0]);
    const int64_t end = integer(loop.args[1]);
    std::vector<Scalar> carried;
    for (size_t i = 0; i < loop.carried.size(); ++i) carried.push_back(at(loop.args[i + 2]));
    for (int64_t iteration = 0; begin + iteration < end; ++iteration) {
      at(loop.index) = Scalar::of(loop.reverse ? end - 1 - iteration : begin + iteration);
      for (size_t i = 0; i < carried.size(); ++i) at(loop.carried[i]) = carried[i];
      if (const int32_t failure = run(loop.body); failure != 0) return failure;
      for (size_t i = 0; i < carried.size(); ++i) carried[i] = at(loop.yields[i]);
    }
    for (size_t i = 0; i < carried.size(); ++i) at(loop.results[i]) = carried[i];
    return 0;
  }

  int32_t run_reduce(const Instruction& reduce) {
    const int64_t begin = integer(reduce.args[0]);
    const int64_t end = integer(reduce.args[1]);
    const size_t count = reduce.results.size();
    std::vector<std::array<Scalar, lanes>> sums(count), of_run(count);
    for (size_t i = 0; i < count; ++i) sums[i].fill(of_nothing(reduce.combine[i], type(reduce.results[i])));
    for (int64_t run_begin = begin; run_begin < end; run_begin += run_indices) {
      for (size_t i = 0; i < count; ++i) of_run[i].fill(identity(reduce.combine[i], type(reduce.results[i])));
      for (int64_t index = run_begin; index < std::min(run_begin + run_indices, end); ++index) {
        at(reduce.index) = Scalar::of(index);
        if (const int32_t failure = run(reduce.body); failure != 0) return failure;
        for (size_t i = 0; i < count; ++i) {
          Scalar& lane = of_run[i][static_cast<size_t>((index - run_begin) % lanes)];
          lane = combined(reduce.combine[i], type(reduce.results[i]), lane, at(reduce.yields[i]));
        }
      }
      for (size_t i = 0; i < count; ++i) {
        for (size_t l = 0; l < lanes; ++l) {
          sums[i][l] = run_begin == begin ? of_run[i][l] : combined(reduce.combine[i], type(reduce.results[i]), sums[i][l], of_run[i][l]);
        }
      }
    }
    for (size_t i = 0; i < count; ++i) {
      for (size_t half = lanes / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; ++l) sums[i][l] = combined(reduce.combine[i], type(reduce.results[i]), sums[i][l], sums[i][l + half]);
      }
      at(reduce.results[i]) = sums[i][0];
    }
    return 0;
  }

  int32_t call(const Instruction& call) {
    const ExternFunction routine = externs_ == nullptr ? nullptr : externs_(call.name);
    if (routine == nullptr) throw InternalError(fmt::format("kernel {}: Call: no routine is named {}.", kernel_.name, call.name));
    std::vector<void*> pointers;
    for (size_t i = 0; i < call.buffers.size(); ++i) pointers.push_back(address(call.buffers[i], integer(call.args[i])));
    std::vector<int64_t> integers;
    for (size_t i = call.buffers.size(); i < call.args.size(); ++i) integers.push_back(integer(call.args[i]));
    return routine(context_, pointers.data(), integers.data());
  }

  const Kernel& kernel_;
  AsContext* context_;
  std::span<void* const> buffers_;
  std::span<const int64_t> dims_;
  ExternLookup externs_;
  MemoryWatch* watch_;
  std::vector<Scalar> values_;
};

}  // namespace

int32_t interpret(const Kernel& kernel, AsContext* context, std::span<void* const> buffers, std::span<const int64_t> dims,
                  ExternLookup externs, MemoryWatch* watch) {
  if (buffers.size() < kernel.buffers.size() || dims.size() < kernel.dims.size()) {
    throw InternalError(fmt::format("kernel {}: interpret: {} buffers and {} dims; expected {} and {}.", kernel.name, buffers.size(),
                                    dims.size(), kernel.buffers.size(), kernel.dims.size()));
  }
  const FlushDenormals while_running;
  return Interpreter(kernel, context, buffers, dims, externs, watch).run();
}

}  // namespace anyshape::loop
