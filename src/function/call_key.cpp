// Keys in strings that are used again.
#include "base/spares.h"

#include <anyshape/function.h>

namespace anyshape {

detail::CallKey::CallKey() : bytes(Spares<std::string>::take()) {}
detail::CallKey::~CallKey() { Spares<std::string>::give(std::move(bytes)); }

}  // namespace anyshape
