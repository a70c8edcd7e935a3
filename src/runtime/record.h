// The record of a call: its sizes, where its buffers are, and the memory it holds. What kernels are told, but for what they compute.
#pragma once
#include "tensor/buffer.h"

#include <anyshape/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Kept per thread, so that a call after the first allocates nothing here.
struct Record {
  struct OfBlock {
    std::vector<int64_t> table;  // by SizePlan
    std::vector<int64_t> slot_offsets;
    std::vector<std::shared_ptr<Buffer>> arenas;  // one per stage that needs one
  };
  std::span<const Tensor> arguments;  // of the call: a backend that is not done when it returns holds them
  std::vector<int64_t> symbols;
  std::vector<OfBlock> blocks;
  std::vector<void*> pointers;                   // per program buffer, in the memory of the backend
  std::vector<std::shared_ptr<Buffer>> results;  // per program buffer, for those of kind Result
  std::vector<int64_t> dims;                     // of the launch being run, in front
  std::vector<void*> buffers;
  std::vector<std::unique_ptr<Record>> parts;  // of loops whose blocks of rows run side by side

  std::vector<int64_t>& table(int block) { return blocks[static_cast<size_t>(block)].table; }
  const std::vector<int64_t>& table(int block) const { return blocks[static_cast<size_t>(block)].table; }
  void*& pointer(int buffer) { return pointers[static_cast<size_t>(buffer)]; }

  void release() {
    for (OfBlock& block : blocks) block.arenas.clear();
    results.clear();
    arguments = {};
    for (const std::unique_ptr<Record>& part : parts) part->release();
  }

  // Memory of a run goes back at its end, also when it fails.
  struct Release {
    Record& record;
    ~Release() { record.release(); }
  };
};

}  // namespace anyshape::runtime
