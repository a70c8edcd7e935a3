// One line of graph text, read from left to right. Private to the parser.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/error.h>

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anyshape::graph {

[[noreturn]] inline void fail(const std::string& what) { throw FormatError(what); }  // the parser adds the line

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

inline Dtype dtype_in(std::string_view text) {
  for (Dtype dtype = Dtype::b8; dtype <= Dtype::f64; dtype = static_cast<Dtype>(static_cast<int>(dtype) + 1)) {
    if (to_string(dtype) == text) return dtype;
  }
  fail(fmt::format("expected a dtype, found \"{}\"", text));
}

class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail_here(fmt::format("\"{}\"", token));
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  void expect_end() {
    if (!at_end()) fail_here("the end of the line");
  }

  std::string_view word(std::string_view what) {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ == begin) fail_here(what);
    return text_.substr(begin, at_ - begin);
  }
  std::string name(std::string_view what) {
    if (!accept("\"")) return std::string(word(what));
    std::string result;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escaped) ++at_;
      result += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
    }
    expect("\"");
    return result;
  }
  bool at_digit() {
    skip_space();
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }
  int64_t integer(std::string_view what) {
    if (!at_digit()) fail_here(what);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail_here("a number that fits 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  // Everything up to one of `ends` that stands in no bracket, without spaces at its end.
  std::string_view up_to(std::string_view ends) {
    skip_space();
    const size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      depth += c == '[' || c == '(' ? 1 : 0;
      depth -= c == ']' || c == ')' ? 1 : 0;
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
    return found;
  }
  [[noreturn]] void fail_here(std::string_view expected) const {
    fail(fmt::format("expected {} at character {}, found \"{}\"", expected, at_ + 1, text_.substr(at_, 40)));
  }

 private:
  static bool is_word(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c >= 0x80;
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace anyshape::graph
