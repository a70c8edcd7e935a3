// Words that switch something on or off in an environment variable, in any case: people write OFF, 0, no and false for the same thing.
#pragma once
#include <string_view>

namespace anyshape {

bool means_on(std::string_view text);   // on, 1, yes, true
bool means_off(std::string_view text);  // off, 0, no, false

}  // namespace anyshape
