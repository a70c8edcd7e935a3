// An eager call as a kernel sees it: which kernel serves it, and the sizes and strides to run that with.
#pragma once
#include "graph/bind.h"

#include <cstdint>
#include <string>
#include <vector>

namespace anyshape::function_detail {

struct EagerCall {
  std::string key;
  std::vector<std::vector<int>> symbol_of;  // per operand and axis: its symbol, or `one`
  std::vector<std::vector<int>> stride_of;  // likewise; nothing for an operand that is row-major
  std::vector<bool> in_place;               // per operand: read where it is, by its strides; else as a row-major copy
  std::vector<int64_t> values;              // of the symbols; those of the attributes' sizes come last
  size_t attribute_sizes = 0;
  bool joined = false;  // the strides are those of a reduction: see graph::Value
};
inline constexpr int one = -1, zero = -2;  // constants among the symbols

// `readable`: the operands that an op with loops of its own can read by their strides.
EagerCall describe(const BoundCall& call, uint64_t readable);

}  // namespace anyshape::function_detail
