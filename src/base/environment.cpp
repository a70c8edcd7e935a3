// Comparing words without their case, whatever the locale.
#include "base/environment.h"

#include <algorithm>
#include <array>

namespace anyshape {
namespace {

bool is_word(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool is_one_of(std::string_view text, const std::array<std::string_view, 4>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return is_word(text, word); });
}

}  // namespace

bool means_on(std::string_view text) { return is_one_of(text, {"on", "1", "yes", "true"}); }
bool means_off(std::string_view text) { return is_one_of(text, {"off", "0", "no", "false"}); }

}  // namespace anyshape
