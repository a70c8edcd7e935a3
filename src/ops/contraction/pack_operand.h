// A copy of a product's right operand for the library: transposed if need be, its rows never a multiple of 4 KiB apart.
#pragma once
#include "ops/contraction/lower_matmul.h"

#include <optional>

namespace anyshape {

struct PackedOperand {
  loop::Value is_used;   // b8: by the sizes of the call
  int32_t buffer;        // scratch that is empty where it is not used
  loop::Value distance;  // between its rows
};

// Writes the copying of b, which `rows` rows of a are multiplied with. Nothing where it never pays.
std::optional<PackedOperand> pack_operand(LowerCall& call, const MatmulAttrs& attrs, const Dim& rows);

}  // namespace anyshape
