// A program whose items the host runs one after the other, on a backend's queue: branches and loops are decided here, by what kernels left in
// memory. For backends that do not run whole segments by themselves.
#pragma once
#include "runtime/enter_block.h"
#include "runtime/queue.h"

namespace anyshape::runtime {

// The blocks of rows that a loop runs side by side: by the number of rows only, so that results do not depend on threads. 16 rows keep a core
// busy with products, 8 nearly do; rows that end at different time steps are of unequal length, and smaller blocks share them out better.
int64_t row_blocks(int64_t rows, bool end_apart);

class ItemRun {
 public:
  ItemRun(const Executable& executable, Record& record, Queue& queue)
      : executable_(executable), program_(executable.program()), sizes_(executable.sizes()), record_(record), queue_(queue) {}

  // Of the first block; no data-dependent size is read after the first update. DataError, ShapeError: a kernel or a check fails.
  void run(Segment segment) { run_items(0, segment, segment.first == 0); }

 private:
  void run_block(int block);
  void run_items(int block, Segment segment, bool finds_sizes);
  FilledLaunch filled_launch(int block, int launch);
  void run_launch(int block, int launch);
  void run_library(int block, int call);  // run_library.cpp
  void read_size(size_t number);
  [[noreturn]] void fail(int block) const;

  // Control items; run_control.cpp, run_scan.cpp.
  void run_branch(const lower::BranchItem& item, int block);
  void run_while(const lower::WhileItem& item, int block);
  void run_scan(const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block);
  class ScanRun;
  bool ask(const lower::WhileItem& item, int block, void* answer);
  void enter_inner(int inner, int block);
  void set_iteration(int inner, int block, int64_t iteration);
  int64_t output_bytes(int inner, size_t output) const;
  void lend_output(int inner, size_t output, void* target);
  void copy_output(int inner, size_t output, void* target);
  int64_t bytes_of(int buffer) const { return runtime::bytes_of(executable_, buffer, record_); }
  void*& pointer(int buffer) { return record_.pointer(buffer); }
  const lower::Block& block_of(int block) const { return program_.blocks[static_cast<size_t>(block)]; }
  void copy(void* to, const void* from, int64_t bytes) {
    if (bytes > 0 && to != from) queue_.copy(to, from, bytes);
  }
  // What kernels left in memory.
  template <class T>
  const T* read(int block, const void* from, int64_t count = 1) {
    const void* const values = queue_.read(from, count * static_cast<int64_t>(sizeof(T)));
    if (values == nullptr) fail(block);
    return static_cast<const T*>(values);
  }

  const Executable& executable_;
  const lower::Program& program_;
  const SizePlan& sizes_;
  Record& record_;
  Queue& queue_;
};

}  // namespace anyshape::runtime
