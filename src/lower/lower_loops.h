// Writes the loops of one group: elementwise roots walk their output, reductions their input, rows both.
#pragma once
#include "loop/parts.h"
#include "lower/elements.h"

namespace anyshape::lower {

// What a group's kernel needs from the program around it.
struct GroupContext {
  const Groups& groups;
  Elements::FindBuffer find_buffer;                     // of a value in memory
  std::function<int(const graph::Node*)> node_number;   // for random counters and failures
  std::function<int(Dtype, const Dim&)> new_temporary;  // a program buffer for partial results
  Decisions& decisions;
};

// Kernels also report which indexed ops they hold: their indices are checked before anything else runs.
struct GroupKernel {
  Launch launch;
  std::vector<const graph::Node*> indexed;
};

GroupKernel lower_elementwise(const PlannedKernel& planned, const GroupContext& context);  // of one shape
GroupKernel lower_reduction(const PlannedKernel& planned, const GroupContext& context);    // of equal fates of axes and inputs of one shape
GroupKernel lower_rows(const PlannedKernel& planned, const GroupContext& context);

// Sums along columns: rows that are combined before others are added.
Dim rows_per_part(const Dim& row);

// Calls of the index checks of `indexed`, at the beginning of a kernel.
void check_indices(KernelWriter& kernel, std::span<const graph::Node* const> indexed, const GroupContext& context);

// The versions of a loop body that open sizes along the inner axis ask for: every way of being 1 or not for one or two of them, and one
// version that multiplies by a flag for more. `extent` is the inner loop's; `body` writes the loops.
void emit_versions(KernelWriter& kernel, std::span<const Dim> open, const Dim& extent,
                   const std::function<void(const std::vector<OpenChoice>&)>& body);

}  // namespace anyshape::lower
