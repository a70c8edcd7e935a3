// The index of the greatest (Combine::Maximum) or least (Combine::Minimum) of some elements: the first of equal ones, the first NaN where
// there is one.
#pragma once
#include "loop/build.h"

namespace anyshape {

struct Best {
  loop::Value value, index;
};
using ValueAt = std::function<loop::Value(loop::Value i)>;

// Of elements [begin, end) in lanes; `index` says what number an element has.
Best best_of(loop::Builder& b, loop::Combine combine, loop::Value begin, loop::Value end, const ValueAt& value, const ValueAt& index);

// One after the other, inside Vector loops; there is at least one. Gives the index counted from `begin`, as an i32.
loop::Value best_in_order(loop::Builder& b, loop::Combine combine, loop::Value begin, loop::Value end, const ValueAt& value);

}  // namespace anyshape
