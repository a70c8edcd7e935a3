// Replacing symbols in a size by other sizes: for inlined functions, checked equalities and tightened signatures.
#pragma once
#include <anyshape/shape.h>

#include <cstdint>
#include <map>

namespace anyshape {

using Substitution = std::map<uint64_t, Dim>;  // symbol id -> what stands for it

Dim substitute(const Dim& dim, const Substitution& symbols);
Shape substitute(const Shape& shape, const Substitution& symbols);

}  // namespace anyshape
