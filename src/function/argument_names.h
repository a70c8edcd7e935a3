// Names for the sizes of arguments that no signature names.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// One per argument, no two alike and such that an axis can stand behind it: `ids` of "argument 1 (ids)", `x` of "argument 2 (x[0])"
// where there is no x[1], else `x0_`. Without a field to name it the letter of the argument, `b` for the second whatever the first holds; where
// it is taken, or nothing is known of the arguments, of the tensor's number.
std::vector<std::string> argument_names(size_t arguments, std::span<const std::string> places);

}  // namespace anyshape::function_detail
