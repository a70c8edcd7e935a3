// Texts of users and files in errors: in quotes, cut where they are long, control characters escaped. A file decides how long its texts are, not how long errors are.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

// "abc" in quotes; of more than 80 bytes the first ones and how many there are: "aaa..." (20000000 bytes).
std::string in_quotes(std::string_view text, char quote = '"');
// Likewise and never cut: a file's path, which the system keeps short enough.
std::string whole_in_quotes(std::string_view text);
std::string shortened(std::string_view text);  // the same without quotes: aaa... (20000000 bytes)
// Each of them shortened, "a, b, c"; of more than 20 the first ones and how many more there are.
std::string listed(std::span<const std::string> texts);

}  // namespace anyshape
