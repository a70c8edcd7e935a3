// Text as JSON (RFC 8259) has it.
#pragma once
#include <string>
#include <string_view>

namespace anyshape {

std::string json_text(std::string_view text);  // in quotes, with escapes for quotes, backslashes and control characters

}  // namespace anyshape
