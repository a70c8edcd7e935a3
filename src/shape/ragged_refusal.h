// Who takes a ragged axis for a size: the shapes do not know, the folder that names calls does.
#pragma once
#include <anyshape/dim.h>

namespace anyshape {

// Asked before require_size refuses a ragged axis: throws in the name of the op that computes with it, or returns. Set once, as the process
// starts.
using RaggedRefusal = void (*)(const Dim& axis);
void set_ragged_refusal(RaggedRefusal refuse);

}  // namespace anyshape
