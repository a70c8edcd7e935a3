// The reader behind json.h: recursive descent over the text, with a limit on depth.
#include "support/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace anyshape::support {
namespace {

constexpr int max_depth = 64;

template <class T>
const T& held(const Json::Value& value, const char* wanted) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw std::runtime_error(fmt::format("json: the value is not {}", wanted));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json result = value(0);
    skip_space();
    if (at_ != text_.size()) fail("text after the value");
    return result;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t column = at_ - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
    throw std::runtime_error(fmt::format("json: line {}, column {}: {}", line, column, what));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, const char* what) {
    skip_space();
    if (!take(c)) fail(what);
  }

  Json value(int depth) {
    if (depth > max_depth) fail("nested too deeply");
    skip_space();
    switch (peek()) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return Json(string());
      case 't': return word("true", Json(true));
      case 'f': return word("false", Json(false));
      case 'n': return word("null", Json());
      default: return number();
    }
  }

  Json word(std::string_view letters, Json meaning) {
    if (text_.substr(at_, letters.size()) != letters) fail("expected a value");
    at_ += letters.size();
    return meaning;
  }

  Json array(int depth) {
    ++at_;
    Json::Items items;
    skip_space();
    if (take(']')) return Json(std::move(items));
    while (true) {
      items.push_back(value(depth + 1));
      skip_space();
      if (take(']')) return Json(std::move(items));
      expect(',', "expected , or ]");
    }
  }

  Json object(int depth) {
    ++at_;
    Json::Members members;
    skip_space();
    if (take('}')) return Json(std::move(members));
    while (true) {
      skip_space();
      if (peek() != '"') fail("expected a key");
      std::string key = string();
      if (std::any_of(members.begin(), members.end(), [&](const JsonMember& member) { return member.key == key; })) fail("a key twice");
      expect(':', "expected :");
      members.push_back({std::move(key), value(depth + 1)});
      skip_space();
      if (take('}')) return Json(std::move(members));
      expect(',', "expected , or }");
    }
  }

  void digits() {
    if (!is_digit(peek())) fail("expected a value");
    while (is_digit(peek())) ++at_;
  }

  Json number() {
    const size_t begin = at_;
    take('-');
    if (!take('0')) digits();
    bool whole = true;
    if (take('.')) {
      whole = false;
      digits();
    }
    if (take('e') || take('E')) {
      whole = false;
      if (!take('+')) take('-');
      digits();
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    if (int64_t integer = 0; whole && std::from_chars(first, last, integer).ec == std::errc()) return Json(integer);
    double real = 0;
    if (std::from_chars(first, last, real).ec != std::errc() || !std::isfinite(real)) fail("a number out of range");
    return Json(real);
  }

  unsigned hexadecimal() {
    unsigned code = 0;
    const std::string_view four = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(four.data(), four.data() + four.size(), code, 16);
    if (four.size() != 4 || error != std::errc() || end != four.data() + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  void append_code_point(std::string& out) {
    unsigned code = hexadecimal();
    if (code >= 0xDC00 && code < 0xE000) fail("half of a surrogate pair");
    if (code >= 0xD800 && code < 0xDC00) {
      if (!take('\\') || !take('u')) fail("half of a surrogate pair");
      const unsigned low = hexadecimal();
      if (low < 0xDC00 || low >= 0xE000) fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    const auto byte = [&](unsigned value) { out += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0 | (code >> 6));
      byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      byte(0xE0 | (code >> 12));
      byte(0x80 | ((code >> 6) & 0x3F));
      byte(0x80 | (code & 0x3F));
    } else {
      byte(0xF0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3F));
      byte(0x80 | ((code >> 6) & 0x3F));
      byte(0x80 | (code & 0x3F));
    }
  }

  std::string string() {
    ++at_;
    std::string out;
    while (true) {
      if (at_ >= text_.size()) fail("a string without an end");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
      if (c != '\\') {
        out += c;
        continue;
      }
      static constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
      if (take('u')) {
        append_code_point(out);
      } else if (const size_t found = at_ < text_.size() ? escapes.find(text_[at_]) : std::string_view::npos;
                 found != std::string_view::npos) {
        out += meanings[found];
        ++at_;
      } else {
        fail("an unknown escape");
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Json::Json() : value_(nullptr) {}
Json::Json(Value value) : value_(std::move(value)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

bool Json::boolean() const { return held<bool>(value_, "true or false"); }
int64_t Json::integer() const { return held<int64_t>(value_, "an integer"); }
double Json::number() const { return is_integer() ? static_cast<double>(integer()) : held<double>(value_, "a number"); }
const std::string& Json::string() const { return held<std::string>(value_, "a string"); }
const Json::Items& Json::items() const { return held<Items>(value_, "an array"); }
const Json::Members& Json::members() const { return held<Members>(value_, "an object"); }

std::vector<int64_t> Json::integers() const {
  std::vector<int64_t> result;
  for (const Json& item : items()) result.push_back(item.integer());
  return result;
}

std::vector<std::string> Json::strings() const {
  std::vector<std::string> result;
  for (const Json& item : items()) result.push_back(item.string());
  return result;
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const JsonMember& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw std::runtime_error(fmt::format("json: no member \"{}\"", key));
}

Json parse_json(std::string_view text) { return Parser(text).document(); }

}  // namespace anyshape::support
