// Grouping for fusion: which values are written to memory, and which ops are computed inside the loop of the one that uses them.
#pragma once
#include "base/decision.h"
#include "graph/slot_table.h"
#include "lower/kernel_reads.h"
#include "lower/update.h"

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace anyshape::lower {

enum class KernelKind : uint8_t {
  Single,  // loops over the elements of the roots, a reduction, or what the one root's own rule writes
  Rows,    // reductions along rows together with what feeds and follows them
};

// What follows a product element by element: computed on each block of its result while that is in cache.
struct Epilogue {
  Roots aliases = {};                          // the product's result under other shapes
  Roots roots = {};                            // none: nothing follows
  KernelReads reads = {};                      // of its loops
  const graph::Value* written_over = nullptr;  // the result that is written over the product's, which nobody else reads
};

struct PlannedKernel {
  Roots roots;
  KernelReads reads;  // what it makes itself aside
  KernelKind kind = KernelKind::Single;
  Epilogue epilogue = {};
};

// Where a value stands inside a larger one that is made of parts: behind `begin` along `axis`.
struct PartOf {
  const graph::Value* whole;
  int axis;
  Dim begin;
};

struct Groups {
  graph::SlotSet<graph::Value> in_memory;  // graph inputs aside
  std::vector<PlannedKernel> kernels;      // in order
  // Of values in memory that their kernels write into larger ones; `only_parts` have no memory of their own.
  std::unordered_map<const graph::Value*, std::vector<PartOf>> parts_of;
  std::unordered_set<const graph::Value*> only_parts;
  std::shared_ptr<KnownReads> known_reads = {};
};

// Regions of control flow update no variables.
Groups group(const graph::Graph& graph, Decisions& decisions, std::span<const Update> updates = {});

}  // namespace anyshape::lower
