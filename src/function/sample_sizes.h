// Sizes to try for the symbols of a signature: the ends of their ranges, 1, and random ones between.
#pragma once
#include "function/signature.h"

#include <anyshape/verify.h>

#include <random>

namespace anyshape::function_detail {

class SizeSampler {
 public:
  // `together` says for each symbol which earlier one it is equal to, or itself. ArgumentError for a range that no symbol has, or that
  // leaves what the symbol allows.
  SizeSampler(const Signature& signature, std::vector<size_t> together, const std::vector<SizeRange>& ranges, uint64_t seed);

  std::vector<int64_t> sizes(int64_t number);  // one per symbol; the first few numbers are the corners
  // Smaller sizes next to these, the smallest first; empty where there are none.
  std::vector<std::vector<int64_t>> smaller(const std::vector<int64_t>& sizes) const;

 private:
  struct Choice {
    int64_t least, last, stride;  // least, least + stride, ..., least + last * stride
    int64_t at(int64_t n) const { return least + n * stride; }
    int64_t nearest(int64_t size) const;  // to a size: the least that is not below it, or the last
  };
  void spread(std::vector<int64_t>& sizes) const;  // to symbols that are equal to others

  std::vector<size_t> together_;
  std::vector<Choice> choices_;
  std::mt19937_64 random_;
};

}  // namespace anyshape::function_detail
