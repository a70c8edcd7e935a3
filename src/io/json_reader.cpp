// A strict reader: what it does not know is refused.
#include "io/json_reader.h"

#include "base/json_text.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace anyshape::io {

void JsonReader::fail(std::string_view what) const {
  refuse_(what);
  throw FormatError(fmt::format("JSON: the text {}.", what));
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

bool JsonReader::accept(std::string_view wanted) {
  skip_space();
  if (!text_.substr(at_).starts_with(wanted)) return false;
  at_ += wanted.size();
  return true;
}

void JsonReader::expect(char wanted) {
  if (!accept(wanted)) fail(fmt::format("has no '{}' at place {} of {}", wanted, at_, rules_.part));
}

void JsonReader::enter() {
  if (++depth_ > rules_.depth) fail(fmt::format("has values nested more than {} deep in {}", rules_.depth, rules_.part));
}

char JsonReader::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonReader::members(const std::function<void(const std::string& key)>& member) {
  enter();
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

void JsonReader::elements(const std::function<void()>& element) {
  enter();
  expect('[');
  if (!accept(']')) {
    do {
      element();
    } while (accept(','));
    expect(']');
  }
  --depth_;
}

std::string JsonReader::string() {
  expect('"');
  std::string result;
  for (;;) {
    if (at_ >= text_.size()) fail(fmt::format("has a text without an end in {}", rules_.part));
    const char letter = text_[at_++];
    if (letter == '"') break;
    if (static_cast<unsigned char>(letter) < 0x20) fail(fmt::format("has a control character in {}", rules_.part));
    if (letter == '\\') {
      append_escape(result);
    } else {
      result += letter;
    }
  }
  if (!is_utf8(result)) fail(fmt::format("has a text that is no UTF-8 in {}", rules_.part));
  return result;
}

// The four digits of an escape.
unsigned JsonReader::code_unit() {
  unsigned code = 0;
  if (at_ + 4 > text_.size()) fail(fmt::format("has a text without an end in {}", rules_.part));
  const char* const first = text_.data() + at_;
  const auto [last, problem] = std::from_chars(first, first + 4, code, 16);
  if (problem != std::errc() || last != first + 4) fail(fmt::format("has an unknown escape in {}", rules_.part));
  at_ += 4;
  return code;
}

void JsonReader::append_escape(std::string& result) {
  if (at_ >= text_.size()) fail(fmt::format("has a text without an end in {}", rules_.part));
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
    default: fail(fmt::format("has an unknown escape in {}", rules_.part));
  }
  unsigned code = code_unit();
  if (code >= 0xD800 && code < 0xE000) {  // half of a letter: the other half follows
    const bool has_second = code < 0xDC00 && text_.substr(at_).starts_with("\\u");
    if (has_second) at_ += 2;
    const unsigned second = has_second ? code_unit() : 0;
    if (second < 0xDC00 || second >= 0xE000) fail(fmt::format("has half a surrogate pair in {}", rules_.part));
    code = 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00);
  }
  const auto rest = [&](unsigned shift) { result += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    result += static_cast<char>(code);
  } else if (code < 0x800) {
    result += static_cast<char>(0xC0U | (code >> 6U));
    rest(0);
  } else if (code < 0x10000) {
    result += static_cast<char>(0xE0U | (code >> 12U));
    rest(6);
    rest(0);
  } else {
    result += static_cast<char>(0xF0U | (code >> 18U));
    rest(12);
    rest(6);
    rest(0);
  }
}

bool JsonReader::truth() {
  if (accept("true")) return true;
  if (!accept("false")) fail(fmt::format("has no value at place {} of {}", at_, rules_.part));
  return false;
}

void JsonReader::null() {
  if (!accept("null")) fail(fmt::format("has no value at place {} of {}", at_, rules_.part));
}

JsonReader::Number JsonReader::number() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (accept("NaN")) return {.value = std::numeric_limits<double>::quiet_NaN()};
  if (accept("Infinity")) return {.value = infinity};
  if (accept("-Infinity")) return {.value = -infinity};
  const size_t begin = at_;
  size_t end = begin;
  const auto at = [&](size_t index) { return index < text_.size() ? text_[index] : '\0'; };
  const auto digits = [&] {
    const size_t before = end;
    while (at(end) >= '0' && at(end) <= '9') ++end;
    if (end == before) fail(fmt::format("has no value at place {} of {}", begin, rules_.part));
    return end - before;
  };
  if (at(end) == '-') ++end;
  const bool begins_with_zero = at(end) == '0';
  if (digits() > 1 && begins_with_zero) fail(fmt::format("has a number that begins with 0 at place {} of {}", begin, rules_.part));
  Number number{.is_whole = true};
  if (at(end) == '.') {
    number.is_whole = false;
    ++end;
    digits();
  }
  if (at(end) == 'e' || at(end) == 'E') {
    number.is_whole = false;
    ++end;
    if (at(end) == '+' || at(end) == '-') ++end;
    digits();
  }
  const char *const first = text_.data() + begin, *const last = text_.data() + end;
  const std::errc problem = number.is_whole ? std::from_chars(first, last, number.whole).ec : std::from_chars(first, last, number.value).ec;
  if (problem != std::errc()) {
    fail(fmt::format("has a number beyond {} at place {} of {}", number.is_whole ? "64 bits" : "a double", begin, rules_.part));
  }
  at_ = end;
  return number;
}

int64_t JsonReader::integer() {
  skip_space();
  int64_t value = 0;
  const char* const first = text_.data() + at_;
  const auto [last, problem] = std::from_chars(first, text_.data() + text_.size(), value);
  if (problem != std::errc()) fail(fmt::format("has no number at place {} of {}", at_, rules_.part));
  at_ += static_cast<size_t>(last - first);
  return value;
}

std::vector<int64_t> JsonReader::integers(size_t most) {
  std::vector<int64_t> values;
  expect('[');
  if (accept(']')) return values;
  do {
    if (values.size() == most) fail(fmt::format("has a list of more than {} numbers in {}", most, rules_.part));
    values.push_back(integer());
  } while (accept(','));
  expect(']');
  return values;
}

void JsonReader::end() {
  skip_space();
  if (at_ != text_.size()) fail(fmt::format("has something behind {}", rules_.part));
}

}  // namespace anyshape::io
