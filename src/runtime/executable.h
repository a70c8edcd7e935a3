// A program that can run: kernels as machine code (or interpreted), sizes as straight-line code, memory as offsets of one arena per block.
// Data-dependent sizes cut a run into stages: each has an arena of its own, laid out when its sizes are known.
#pragma once
#include "lower/program.h"
#include "runtime/cpu/abi.h"
#include "runtime/launch_times.h"
#include "shape/dim_program.h"
#include "tensor/tensor_impl.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Where random ops of one call draw from: op n takes `counter` + n.
struct RandomState {
  int64_t key = 0;
  int64_t counter = 0;
};

// The variables behind a run's arguments, where it updates some.
class VariableWriter {
 public:
  virtual ~VariableWriter() = default;
  // Nothing that follows can fail: from here on, until the caller has the results, nobody else reads the variables.
  virtual void begin() = 0;
  virtual bool may_write_over(int argument) = 0;  // nobody else holds the old value
};

class Executable {
 public:
  // `symbols` in the order run() gets their values. `entries` is one kernel per launch; none at all: every launch is interpreted.
  // `code` is held as long as the executable lives.
  Executable(lower::Program program, std::vector<Dim> symbols, std::vector<AsKernel> entries, std::shared_ptr<const void> code);

  // Runs on row-major arguments, one per graph input. DataError for an index out of range, ShapeError for a size rule of a region that is
  // entered and for one on a data-dependent size; nothing but the results is written, and, once nothing can fail any more, the
  // arguments that `variables` allows: the results of their updates have the same memory.
  std::vector<Tensor> run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random,
                          VariableWriter* variables = nullptr) const;

  // Bytes that a run with these sizes takes from the allocator, all its blocks together: arenas and results. A region that is not entered,
  // and a data-dependent size below its bound, take less.
  int64_t peak_bytes(std::span<const int64_t> symbol_values) const;
  struct Peak {
    Dim arena, results;  // bytes, before blocks are rounded up
  };
  Peak peak() const;

  bool uses_random() const { return program_.uses_random; }
  int interpreted_groups() const { return entries_.empty() ? static_cast<int>(program_.launches.size()) : 0; }
  const lower::Program& program() const { return program_; }
  const LaunchTimes& times() const { return times_; }

 private:
  struct Frame;  // of one run: sizes, pointers, arenas
  // Where the sizes of a block are in its table.
  struct BlockSizes {
    DimProgram sizes;
    std::vector<int> arena;    // per arena slot: its bytes
    std::vector<int> outputs;  // per output: its elements
    struct OfScan {
      int length = -1;
      int active = -1;  // of those with rows: the symbol, and the sizes it is held to
      int rows = -1;
      int total = -1;
    };
    std::vector<OfScan> items;  // per item, for scans
    std::vector<std::pair<int, int>> checks;
    std::vector<std::vector<int>> limits;  // per indexed op and component
    std::vector<int> own;                  // buffers that live in it
    std::vector<int> own_stages;           // when their sizes are known, as stages of `sizes`
  };
  void plan_block(size_t block);
  void enter(int block, Frame& frame, const int64_t* symbols, std::span<const Tensor> arguments) const;
  void lay_out(int block, int stage, Frame& frame, std::span<const Tensor> arguments) const;
  static int64_t arena_bytes(const BlockSizes& plan, int stage, const std::vector<int64_t>& table, std::vector<int64_t>* offsets);
  int64_t peak_of_block(int block, const int64_t* symbols) const;
  Dim arena_of_block(int block) const;
  void read_size(size_t late, Frame& frame) const;
  void require_checks(int block, const Frame& frame) const;
  void run_items(int block, Frame& frame, AsContext& context) const;
  void run_items(int block, size_t first, size_t last, Frame& frame, AsContext& context) const;
  void place_updates(Frame& frame, std::span<const Tensor> arguments, VariableWriter* variables) const;
  void run_launch(int block, int launch, Frame& frame, AsContext& context) const;
  void fill_launch(int block, int launch, Frame& frame) const;
  std::vector<Tensor> wrap_results(Frame& frame, std::span<const Tensor> arguments) const;
  [[noreturn]] void fail(int block, const AsFailure& failure, const Frame& frame) const;

  // Calls of the library; run_library.cpp.
  void plan_library(int call, BlockSizes& plan);
  void run_library(int block, int call, Frame& frame, AsContext& context) const;

  // Control items; run_control.cpp.
  void run_branch(const lower::BranchItem& item, int block, Frame& frame, AsContext& context) const;
  void run_scan(const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block, Frame& frame, AsContext& context) const;
  class ScanRun;
  void run_while(const lower::WhileItem& item, int block, Frame& frame, AsContext& context) const;
  int64_t output_bytes(int inner, size_t output, const Frame& frame) const;
  bool ask(const lower::WhileItem& item, Frame& frame, AsContext& context) const;
  void enter_inner(int inner, int block, Frame& frame) const;
  void set_iteration(int inner, int block, Frame& frame, int64_t iteration) const;
  void lend_output(int inner, size_t output, Frame& frame, void* target) const;
  void copy_output(int inner, size_t output, Frame& frame, void* target) const;
  int64_t bytes_of(int buffer, const Frame& frame) const;

  lower::Program program_;
  std::vector<AsKernel> entries_;
  std::shared_ptr<const void> code_;
  LaunchTimes times_;
  int random_slot_ = -1;  // of the key among the symbols; the call id follows
  std::vector<BlockSizes> blocks_;
  std::vector<std::vector<int>> launch_slots_;                      // per launch: where its dims are in its block's table
  std::vector<LibrarySizes<int>> library_slots_;                    // per library call: where its sizes are, likewise
  std::vector<int> count_slots_;                                    // per buffer: its elements, likewise
  std::vector<std::vector<int>> result_slots_;                      // per result: its sizes
  std::vector<std::vector<std::pair<int, int>>> data_size_checks_;  // per data-dependent size
  std::vector<int> data_size_bounds_;                               // per data-dependent size: its bound
  std::vector<bool> is_update_;                                     // per buffer: it may be written over an argument
};

}  // namespace anyshape::runtime
