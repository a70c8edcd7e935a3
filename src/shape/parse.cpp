// A recursive-descent reader of sizes. Its input may be hostile: depth is limited, and every error has a position.
#include "shape/parse.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <charconv>

namespace anyshape {
namespace {

constexpr int max_depth = 64;
constexpr size_t max_length = 8192;

class Reader {
 public:
  Reader(std::string_view text, const SymbolLookup& lookup) : text_(text), lookup_(lookup) {
    if (text.size() > max_length) fail(fmt::format("{} characters, more than {}", text.size(), max_length));
  }

  Dim sum() {
    if (++depth_ > max_depth) fail("parentheses are nested too deeply");
    Dim result = product();
    while (true) {
      if (accept('+'))
        result = result + product();
      else if (accept('-'))
        result = result - product();
      else
        break;
    }
    --depth_;
    return result;
  }

  bool accept(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  void expect_end() {
    skip_space();
    if (at_ != text_.size()) fail("expected the end");
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw FormatError(
        fmt::format("size \"{}\": {} at character {}; expected a size such as \"2 * rows + 1\".", text_.substr(0, 200), why, at_));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  Dim product() {
    Dim result = factor();
    while (true) {
      if (accept('*'))
        result = result * factor();
      else if (accept('/'))
        result = result / factor();
      else if (accept('%'))
        result = result % factor();
      else
        return result;
    }
  }

  Dim factor() {
    bool negative = false;
    while (accept('-')) negative = !negative;
    const Dim value = primary();
    return negative ? 0 - value : value;
  }

  Dim primary() {
    if (accept('(')) {
      Dim result = sum();
      expect(')');
      return result;
    }
    skip_space();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return number();
    const std::string_view name = word();
    if (name.empty()) fail("expected a number, a name or '('");
    if (accept('(')) return call(name);
    return lookup_(name);
  }

  Dim number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("the number does not fit 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  std::string_view word() {
    const size_t begin = at_;
    const auto belongs = [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c >= 0x80;
    };
    while (at_ < text_.size() && belongs(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Dim call(std::string_view name) {
    using Operation = Dim (*)(const Dim&, const Dim&);
    const Operation operation = name == "min"     ? Operation{min}
                                : name == "max"   ? Operation{max}
                                : name == "bcast" ? Operation{bcast}
                                                  : nullptr;
    if (operation == nullptr) fail(fmt::format("\"{}\" is no operation on sizes (min, max, bcast)", name));
    Dim result = sum();
    while (accept(',')) result = operation(result, sum());
    expect(')');
    return result;
  }

  std::string_view text_;
  const SymbolLookup& lookup_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text, const SymbolLookup& lookup) {
  Reader reader(text, lookup);
  Dim result = reader.sum();
  reader.expect_end();
  return result;
}

Shape parse_shape(std::string_view text, const SymbolLookup& lookup) {
  Reader reader(text, lookup);
  Shape result;
  reader.expect('[');
  if (!reader.accept(']')) {
    do result.push_back(reader.sum());
    while (reader.accept(','));
    reader.expect(']');
  }
  reader.expect_end();
  return result;
}

}  // namespace anyshape
