// A copy of a product's right operand for the library: transposed if need be, its rows never a multiple of 4 KiB apart.
#pragma once
#include "ops/contraction/lower_matmul.h"

#include <optional>

namespace anyshape {

struct PackedOperand {
  Dim is_used;   // 1 or 0, by the sizes of the call
  Dim distance;  // between its rows
  Dim count;     // elements: 0 where it is not used
};

// The copy of b, which `rows` rows of a are multiplied with. Nothing where it never pays.
std::optional<PackedOperand> pack_operand(LowerCall& call, const MatmulAttrs& attrs, const Dim& rows);

}  // namespace anyshape
