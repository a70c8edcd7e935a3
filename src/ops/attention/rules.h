// Shape rules of the attention ops.
#pragma once
#include "ops/attention/attention.h"

namespace anyshape {

Specs attention_shape(OpCall& call, AttentionForm form);           // the result, and the statistics of its queries
Specs attention_gradient_shape(OpCall& call, AttentionForm form);  // gradients like query, key and value

}  // namespace anyshape
