// Splits kernel text into words, numbers and symbols.
#include "loop/tokens.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace anyshape::loop {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_space()) tokens.push_back(next());
    tokens.push_back({Token::Kind::End, "the end of the text", line_});
    return tokens;
  }

 private:
  char at(size_t offset) const { return position_ + offset < text_.size() ? text_[position_ + offset] : '\0'; }

  bool skip_space() {
    while (position_ < text_.size()) {
      const char c = at(0);
      if (c == '#') {
        while (position_ < text_.size() && at(0) != '\n') ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        if (c == '\n') ++line_;
        ++position_;
      } else {
        return true;
      }
    }
    return false;
  }

  Token take(Token::Kind kind, size_t length) {
    Token token{kind, std::string(text_.substr(position_, length)), line_};
    position_ += length;
    return token;
  }

  Token next() {
    if (at(0) == '"') return quoted();
    if (starts_name(at(0))) {
      size_t length = 1;
      while (continues_name(at(length))) ++length;
      return take(Token::Kind::Name, length);
    }
    if (is_digit(at(0))) return take(Token::Kind::Number, number_length());
    static constexpr std::array<std::string_view, 26> symbols = {">>>", "..", "==", "!=", "<=", ">=", "<<", ">>", "//", "<", ">", "=", "+",
                                                                 "-",   "*",  "/",  "%",  "&",  "|",  "^",  "!",  "~",  "(", ")", ",", ";"};
    static constexpr std::string_view brackets = "[]{}:";
    for (std::string_view symbol : symbols) {
      if (text_.substr(position_).starts_with(symbol)) return take(Token::Kind::Symbol, symbol.size());
    }
    if (brackets.find(at(0)) != std::string_view::npos) return take(Token::Kind::Symbol, 1);
    throw FormatError(fmt::format("kernel text, line {}: a character with code {} that starts nothing; expected a name, number or symbol.",
                                  line_, static_cast<int>(static_cast<unsigned char>(at(0)))));
  }

  // A point belongs to the number only before a digit, so that `0..n` is a range.
  size_t number_length() const {
    size_t length = 1;
    if (at(0) == '0' && at(1) == 'x') {
      length = 2;
      while (continues_name(at(length))) ++length;
      return length;
    }
    while (is_digit(at(length))) ++length;
    if (at(length) == '.' && is_digit(at(length + 1))) {
      ++length;
      while (is_digit(at(length))) ++length;
    }
    const bool sign = at(length + 1) == '-' || at(length + 1) == '+';
    if (at(length) == 'e' && is_digit(at(length + (sign ? 2 : 1)))) {
      length += sign ? 2 : 1;
      while (is_digit(at(length))) ++length;
    }
    while (continues_name(at(length))) ++length;  // a suffix, right or wrong: the parser says which
    return length;
  }

  Token quoted() {
    Token token{Token::Kind::Name, "", line_, true};
    for (++position_; position_ < text_.size() && at(0) != '"' && at(0) != '\n'; ++position_) {
      if (at(0) == '\\') ++position_;
      if (position_ < text_.size()) token.text += at(0) == 'n' && text_[position_ - 1] == '\\' ? '\n' : at(0);
    }
    if (at(0) != '"')
      throw FormatError(fmt::format("kernel text, line {}: a quoted name does not end; expected \" on the same line.", line_));
    ++position_;
    return token;
  }

  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Tokenizer(text).run(); }

bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 23> keywords = {
      "kernel", "in",   "out",  "inout", "each", "ranges", "runs",    "elements", "parallel", "vector", "for", "reduce",
      "if",     "else", "call", "yield", "next", "carry",  "reverse", "grain",    "true",     "false",  "inf"};
  return word == "nan" || std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

std::string quoted_if_needed(const std::string& name) {
  const bool plain = !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), continues_name) && !is_keyword(name);
  if (plain) return name;
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + '"';
}

}  // namespace anyshape::loop
