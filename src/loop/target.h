// What kernels are made for: the processor, and how loops are cut for it. All of it is a matter of time: nothing here changes a result.
#pragma once
#include "loop/ir.h"

#include <array>
#include <cstdint>
#include <string>

namespace anyshape::loop {

struct Target {
  std::string triple = {}, cpu = {}, features = {};  // in LLVM's words
  int vector_bytes = 16;
  bool has_lane_masks = false;    // masked memory access, gather and scatter in hardware for 4- and 8-byte elements (AVX-512)
  bool has_masked_store = false;  // masked stores in hardware for 4- and 8-byte elements (AVX)

  // Elements that a task walks at least, where there are so many: cutting less cannot pay for waking a thread.
  int64_t task_elements = 16384;
  // The longest range of each Walk but Once, in columns. Sums are as near as the first cache; lines from anywhere are short, so that the pool has
  // something to share where a matrix has a few hundred columns.
  std::array<int64_t, 4> columns = {0, 512, 1024, 64};
  // Iterations of a run: as many as `run_elements` hold, within these bounds. Two long rows come from memory together.
  int64_t run_elements = 2048, least_run = 2, most_run = 16;
};

}  // namespace anyshape::loop
