// Loops whose rows do not meet: when every op of a body works on each row of the batch by itself, blocks of rows can run through all steps
// on their own, without waiting for each other.
#pragma once
#include "ops/control/scan.h"

#include <optional>

namespace anyshape::lower {

struct SplitRows {
  RegionGraph body;  // written in `active` rows
  Dim active;
  Dim rows;
};

// None where some op does more than that, or is not known not to. A dense scan gets a body of its own in which the batch is a fresh symbol.
std::optional<SplitRows> split_rows(const ScanAttrs& attrs);

}  // namespace anyshape::lower
