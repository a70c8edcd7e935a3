// What a kernel reads from memory, and where: at the element that it works on, or elsewhere.
#pragma once
#include "lower/group.h"

#include <vector>

namespace anyshape::lower {

struct MemoryRead {
  // How an axis of the value is indexed, if not by an axis of the loops.
  static constexpr int at_zero = -1, elsewhere = -2;

  const graph::Value* value = nullptr;
  std::vector<int> axes;  // for each axis of the value the axis of the loops that indexes it

  bool is_in_order(size_t count) const;  // the first axes are indexed by the first ones of the loops
  bool is_in_order() const { return is_in_order(axes.size()); }
};

struct KernelReads {
  std::vector<MemoryRead> reads;
  std::vector<const graph::Value*> whole;  // read before the loops begin, or out of order
  std::vector<bool> joins;                 // per axis of the loops: all that is read goes on from the axis before it without a gap
  int ops = 0;                             // computed in the loops
};

// Kernels that are neither loops over elements nor reductions read all inputs of their root as a whole.
KernelReads find_reads(const Roots& roots, const Groups& groups);

bool is_loop(const graph::Node& node);  // an op that is said element by element

}  // namespace anyshape::lower
