// A kernel over rows, taken apart: what is computed in which of its passes over a row, and what a pass leaves for later ones.
#pragma once
#include "lower/group.h"
#include "lower/row_space.h"

namespace anyshape::lower {

struct RowPasses {
  // A reduction is combined in the first pass after those it needs; what is written is written as soon as it is known.
  struct Pass {
    std::vector<const graph::Value*> per_row;    // in order, before the pass: what a row has as a whole; not of reductions
    std::vector<const graph::Node*> reductions;  // none in the last pass
    std::vector<const graph::Node*> columns;     // reductions of all rows to one, to which the pass adds
    std::vector<const graph::Value*> stored;     // a value for each element that belongs in memory
  };
  // An expensive value for each element that several passes need: computed in one and read in the others.
  struct Kept {
    const graph::Value* value = nullptr;
    int pass = 0;  // that computes it
    // In whose memory it stands until then: its own, or that of a result that is written later; null: its own scratch.
    const graph::Value* home = nullptr;
  };

  RowSpace rows;
  std::vector<Pass> passes;
  std::vector<Kept> kept;
  std::vector<const graph::Value*> given_per_row;  // from memory
  std::unordered_set<const graph::Value*> inside;  // computed in the kernel
};

RowPasses find_passes(const Roots& roots, const Groups& groups);

}  // namespace anyshape::lower
