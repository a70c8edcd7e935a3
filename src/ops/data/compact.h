// Compaction: the elements that a rule keeps move together. What every op with a data-dependent size is made of.
#pragma once
#include "loop/element.h"

#include <functional>

namespace anyshape {

// Walks the elements 0 .. n - 1 and calls `keep(i, index)` for those with `keeps(i)` (b8): index counts them from 0, in order. Their number
// goes to the op's last output. Both rules are written out twice: in a pass that counts and in one that moves.
void compact(LowerCall& call, const Dim& n, const std::function<loop::Value(loop::Value i)>& keeps,
             const std::function<void(loop::Value i, loop::Value index)>& keep);

}  // namespace anyshape
