// Loops whose rows do not meet: when every op of a body works on each row of the batch by itself, blocks of rows can run through all time steps
// on their own, without waiting for each other.
#pragma once
#include "base/decision.h"
#include "ops/control/scan.h"

#include <optional>

namespace anyshape::lower {

struct SplitRows {
  RegionGraph body;  // of its own, written in `active` rows
  Dim active;        // a fresh symbol
  Dim rows;
};

// None where some op does more than that, or is not known not to.
std::optional<SplitRows> split_rows(const graph::Node& scan, Decisions& decisions);

}  // namespace anyshape::lower
