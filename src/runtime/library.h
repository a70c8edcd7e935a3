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

// The tensor that is wanted is `result`; the two others are read. Which pixel of x a result meets is said by the sizes.
struct ConvolutionCall {
  ConvolutionWork::Wanted wanted = {};
  ConvolutionSizes<int64_t> sizes = {};
  const float *first = nullptr, *second = nullptr;  // x and kernel, dy and kernel, or x and dy
  float *result = nullptr, *partial = nullptr;      // partial: scratch of sizes.slices times the kernel's elements
  std::optional<FilledLaunch> epilogue = {};        // as of a product, on blocks of pixels and channels of the result
};

class Library {
 public:
  // False: it has failed. What the call refers to is the caller's and changes when it returns.
  [[nodiscard]] virtual bool multiply(const ProductCall& call) = 0;
  [[nodiscard]] virtual bool sort(const SortCall& call) = 0;
  [[nodiscard]] virtual bool convolve(const ConvolutionCall& call) = 0;

 protected:
  ~Library() = default;
};

}  // namespace anyshape::runtime
