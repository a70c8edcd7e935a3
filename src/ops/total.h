// The sum of many sizes.
#pragma once
#include <anyshape/dim.h>

#include <span>

namespace anyshape {

// Halves are added by themselves: a sum of many symbols is made a few times only, not once for each of them.
Dim total_of(std::span<const Dim> sizes);

}  // namespace anyshape
