// What a graph's results mean to variables: known to who traced it, and asked where loops that write them may run.
#pragma once

namespace anyshape::lower {

// A result that is the next value of a variable whose present value is an argument.
struct Update {
  int result = -1;    // which graph output
  int argument = -1;  // which graph input
};

}  // namespace anyshape::lower
