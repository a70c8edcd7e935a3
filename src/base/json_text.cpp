// Quotes, escapes, and what is not UTF-8.
#include "base/json_text.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

// The bytes of the character that begins at `at`, as RFC 3629 has it (no overlong forms, no surrogates); 0 where none does.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0);
    return !is_wrong && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_wrong = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    return !is_wrong && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = character_bytes(text, at);
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

std::string json_text(std::string_view text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string result = "\"";
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t bytes = character_bytes(text, at);
    if (bytes != 1) {
      result += bytes == 0 ? replacement : text.substr(at, bytes);
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
    at += bytes == 0 ? 1 : bytes;
  }
  return result + "\"";
}

}  // namespace anyshape
