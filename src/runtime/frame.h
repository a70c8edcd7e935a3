// The state of one run. Private to the executable.
#pragma once
#include "runtime/executable.h"

#include <cstring>

namespace anyshape::runtime {

inline void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(bytes));
}

// The blocks of rows that a loop runs side by side: by the number of rows only, so that results do not depend on threads. 16 rows keep a core
// busy with products, 8 nearly do; rows that end at different time steps are of unequal length, and smaller blocks share them out better.
int64_t row_blocks(int64_t rows, bool end_apart);

// Kept per thread, so that a call after the first allocates nothing here. Kernels never call back into run().
struct Executable::Frame {
  struct OfBlock {
    std::vector<int64_t> table;
    std::vector<int64_t> slot_offsets;
    std::vector<std::shared_ptr<Buffer>> arenas;  // one per stage that needs one
  };
  std::vector<int64_t> symbols;
  std::vector<OfBlock> blocks;
  std::vector<void*> pointers;                   // per program buffer
  std::vector<std::shared_ptr<Buffer>> results;  // per program buffer, for those of kind Result
  std::vector<int64_t> dims;                     // of the launch being run
  std::vector<void*> buffers;
  std::vector<std::unique_ptr<Frame>> parts;  // of loops whose blocks of rows run side by side

  std::vector<int64_t>& table(int block) { return blocks[static_cast<size_t>(block)].table; }
  const std::vector<int64_t>& table(int block) const { return blocks[static_cast<size_t>(block)].table; }

  void release() {
    for (OfBlock& block : blocks) block.arenas.clear();
    results.clear();
    for (const std::unique_ptr<Frame>& part : parts) part->release();
  }

  // Memory of a run goes back at its end, also when it fails.
  struct Release {
    Frame& frame;
    ~Release() { frame.release(); }
  };
};

}  // namespace anyshape::runtime
