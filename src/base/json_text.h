// Text as JSON (RFC 8259) has it.
#pragma once
#include <string>
#include <string_view>

namespace anyshape {

bool is_utf8(std::string_view text);

// In quotes, with escapes for quotes, backslashes and control characters; bytes that are no UTF-8 become U+FFFD, so that the text always is JSON.
std::string json_text(std::string_view text);

}  // namespace anyshape
