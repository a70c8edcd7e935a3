// Results that are computed one from the other along a row, as in cumulative sums. What lies beside the row runs in vector lanes.
#pragma once
#include "loop/element.h"

#include <functional>

namespace anyshape {

// The first result of a row by its offset in memory, every further one from the result before it.
struct Walk {
  bool reverse;
  std::function<loop::Value(loop::Value here)> first;
  std::function<loop::Value(loop::Value previous, loop::Value before, loop::Value here)> next;
};

// Into output 0 of the call: the row of elements [begin, end), which stand beside each other.
void walk_row(LowerCall& call, const Walk& walk, loop::Value begin, loop::Value end);

// The columns [first, last) of lines [begin, end), each of `width` elements.
struct Lines {
  loop::Value begin, end, width, first, last;
};
void walk_columns(LowerCall& call, const Walk& walk, const Lines& lines);

// s[0] = 0 and s[i + 1] = a[i] * s[i] + b[i], for inputs 0 and 1.
Walk recurrence_walk(LowerCall& call, bool reverse);

// Sums (Op::Add) or products (Op::Multiply) of input 0.
Walk cumulate_walk(LowerCall& call, loop::Op combine, bool reverse, bool exclusive);

}  // namespace anyshape
