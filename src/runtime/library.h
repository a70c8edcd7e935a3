// What a target's library of routines does for a program, with numbers and addresses: the calls of lower::LibraryCall. How work is cut into tasks
// follows from the sizes only, so that results have the same bits for any number of threads.
#pragma once
#include "loop/library_work.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace anyshape::runtime {

// A launch of a program with its numbers and addresses.
struct FilledLaunch {
  size_t launch = 0;
  std::span<void* const> buffers;
  std::span<const int64_t> dims;
};

struct ProductCall {
  bool transpose_a = false, transpose_b = false;
  ProductSizes<int64_t> sizes = {};
  const float *a = nullptr, *b = nullptr;
  float *c = nullptr, *packed = nullptr;  // packed: scratch where sizes.packs
  // For each block of c, once it is written. Its first sizes are the bounds of a block, first row, end row, first column and end column: here those
  // of the whole result.
  std::optional<FilledLaunch> epilogue = {};
};

struct SortCall {
  Dtype dtype{};
  bool descending = false;
  SortSizes<int64_t> sizes = {};
  const int64_t* splits = nullptr;  // null: rows are of one size
  const void* x = nullptr;
  void* values = nullptr;
  int32_t* indices = nullptr;
  void* keys = nullptr;
};

class Library {
 public:
  // False: it has failed. What the call refers to is the caller's and changes when it returns.
  [[nodiscard]] virtual bool multiply(const ProductCall& call) = 0;
  [[nodiscard]] virtual bool sort(const SortCall& call) = 0;

 protected:
  ~Library() = default;
};

}  // namespace anyshape::runtime
