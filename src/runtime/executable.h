// A program that can run: kernels as machine code (or interpreted), sizes as straight-line code, memory as offsets of one arena.
#pragma once
#include "lower/program.h"
#include "runtime/abi.h"
#include "shape/dim_program.h"
#include "tensor/tensor_impl.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Where random ops of one call draw from.
struct RandomState {
  int64_t key = 0;
  int64_t call_id = 0;
};

class Executable {
 public:
  // `symbols` in the order run() gets their values. `entries` is one kernel per step; none at all: every step is interpreted.
  // `code` is held as long as the executable lives.
  Executable(lower::Program program, std::vector<Dim> symbols, std::vector<AsKernel> entries, std::shared_ptr<const void> code);

  // Runs on row-major arguments, one per graph input. DataError for an index out of range; nothing but the results is written.
  std::vector<Tensor> run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random) const;

  bool uses_random() const { return program_.uses_random; }
  int interpreted_groups() const { return entries_.empty() ? static_cast<int>(program_.steps.size()) : 0; }
  const lower::Program& program() const { return program_; }

 private:
  struct Frame;  // of one run: sizes, pointers, arena
  void lay_out(Frame& frame, std::span<const Tensor> arguments) const;
  std::vector<Tensor> wrap_results(Frame& frame, std::span<const Tensor> arguments) const;
  void run_step(size_t step, Frame& frame, AsContext& context) const;
  [[noreturn]] void fail(const AsFailure& failure, const Frame& frame) const;

  lower::Program program_;
  std::vector<AsKernel> entries_;
  std::shared_ptr<const void> code_;
  DimProgram sizes_;
  int random_slot_ = -1;                        // of the key among the symbols; the call id follows
  std::vector<std::vector<int>> step_slots_;    // per step: where its dims are in the table
  std::vector<int> count_slots_;                // per buffer: its elements
  std::vector<int> arena_slots_;                // per arena slot: its bytes
  std::vector<std::vector<int>> result_slots_;  // per result: its sizes
  std::vector<std::vector<int>> limit_slots_;   // per indexed op and component
};

}  // namespace anyshape::runtime
