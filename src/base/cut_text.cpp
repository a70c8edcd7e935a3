// Quoting and cutting.
#include "base/cut_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

constexpr size_t longest = 80;
constexpr size_t most_listed = 20;

// Not inside a letter of UTF-8.
std::string_view beginning_of(std::string_view text) {
  size_t kept = longest - 3;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0U) == 0x80U) --kept;
  return text.substr(0, kept);
}

// Control characters as \x00: a NUL would end the text of an error, others upset a terminal.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    shown += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, letter);
  }
  return shown;
}

}  // namespace

std::string in_quotes(std::string_view text, char quote) {
  if (text.size() <= longest) return fmt::format("{}{}{}", quote, printable(text), quote);
  return fmt::format("{}{}...{} ({} bytes)", quote, printable(beginning_of(text)), quote, text.size());
}

std::string whole_in_quotes(std::string_view text) { return fmt::format("\"{}\"", printable(text)); }

std::string shortened(std::string_view text) {
  return text.size() <= longest ? printable(text) : fmt::format("{}... ({} bytes)", printable(beginning_of(text)), text.size());
}

std::string listed(std::span<const std::string> texts) {
  const size_t shown = std::min(texts.size(), most_listed);
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + shortened(texts[i]);
  return shown < texts.size() ? text + fmt::format(" and {} more", texts.size() - shown) : text;
}

}  // namespace anyshape
