// A strict reader: what it does not know is refused.
#include "io/json_reader.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <charconv>

namespace anyshape::io {

void JsonReader::fail(std::string_view what) const {
  refuse_(what);
  throw FormatError(fmt::format("file: the header {}.", what));
}

void JsonReader::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
}

bool JsonReader::accept(char wanted) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != wanted) return false;
  ++at_;
  return true;
}

void JsonReader::expect(char wanted) {
  if (!accept(wanted)) fail(fmt::format("has no '{}' at place {} of its header", wanted, at_));
}

void JsonReader::members(const std::function<void(const std::string& key)>& member) {
  if (++depth_ > 8) fail("has a header that is nested too deeply");
  expect('{');
  if (!accept('}')) {
    do {
      const std::string key = string();
      expect(':');
      member(key);
    } while (accept(','));
    expect('}');
  }
  --depth_;
}

std::string JsonReader::string() {
  expect('"');
  std::string result;
  for (;;) {
    if (at_ >= text_.size()) fail("has a text without an end in its header");
    const char letter = text_[at_++];
    if (letter == '"') return result;
    if (static_cast<unsigned char>(letter) < 0x20) fail("has a control character in its header");
    if (letter == '\\') {
      append_escape(result);
    } else {
      result += letter;
    }
  }
}

void JsonReader::append_escape(std::string& result) {
  if (at_ >= text_.size()) fail("has a text without an end in its header");
  const char letter = text_[at_++];
  switch (letter) {
    case '"':
    case '\\':
    case '/': result += letter; return;
    case 'b': result += '\b'; return;
    case 'f': result += '\f'; return;
    case 'n': result += '\n'; return;
    case 'r': result += '\r'; return;
    case 't': result += '\t'; return;
    case 'u': break;
    default: fail("has an unknown escape in its header");
  }
  unsigned code = 0;
  if (at_ + 4 > text_.size()) fail("has a text without an end in its header");
  const char* const first = text_.data() + at_;
  const auto [last, problem] = std::from_chars(first, first + 4, code, 16);
  if (problem != std::errc() || last != first + 4) fail("has an unknown escape in its header");
  at_ += 4;
  if (code >= 0xD800 && code < 0xE000) fail("has a letter in its header that is written as a surrogate");
  if (code < 0x80) {
    result += static_cast<char>(code);
  } else if (code < 0x800) {
    result += static_cast<char>(0xC0U | (code >> 6U));
    result += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    result += static_cast<char>(0xE0U | (code >> 12U));
    result += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    result += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

int64_t JsonReader::integer() {
  skip_space();
  int64_t value = 0;
  const char* const first = text_.data() + at_;
  const auto [last, problem] = std::from_chars(first, text_.data() + text_.size(), value);
  if (problem != std::errc()) fail(fmt::format("has no number at place {} of its header", at_));
  at_ += static_cast<size_t>(last - first);
  return value;
}

std::vector<int64_t> JsonReader::integers(size_t most) {
  std::vector<int64_t> values;
  expect('[');
  if (accept(']')) return values;
  do {
    if (values.size() == most) fail(fmt::format("has a list of more than {} numbers in its header", most));
    values.push_back(integer());
  } while (accept(','));
  expect(']');
  return values;
}

void JsonReader::end() {
  skip_space();
  if (at_ != text_.size()) fail("has something behind its header");
}

}  // namespace anyshape::io
