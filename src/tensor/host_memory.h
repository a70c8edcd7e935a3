// The memory of this machine's processor: the one that every tensor is in unless a device's is asked for.
#pragma once
#include "tensor/memory.h"

namespace anyshape {

Memory& host_memory() noexcept;

}  // namespace anyshape
