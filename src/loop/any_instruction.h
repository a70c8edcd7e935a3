// Looking for an instruction anywhere in a block: in the bodies of its loops and in its branches, too.
#pragma once
#include "loop/ir.h"

#include <algorithm>

namespace anyshape::loop {

inline bool any_instruction(const Block& block, bool (*is_wanted)(const Instruction&)) {
  return std::ranges::any_of(block, [&](const Instruction& each) {
    return is_wanted(each) || any_instruction(each.body, is_wanted) || any_instruction(each.otherwise, is_wanted);
  });
}

}  // namespace anyshape::loop
