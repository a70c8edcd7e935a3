// Numbers of kernel text, read at the precision of the type they turn out to have.
#include "loop/literal.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace anyshape::loop {
namespace {

[[noreturn]] void bad_number(const std::string& text, int line, std::string_view expected) {
  throw FormatError(fmt::format("kernel text, line {}: {} is no number here; expected {}.", line, text, expected));
}

template <class T>
double read_float(const Literal& literal) {
  T number{};
  const char* end = literal.digits.data() + literal.digits.size();
  const auto [stop, error] = std::from_chars(literal.digits.data(), end, number);
  if (error != std::errc() || stop != end) bad_number(literal.digits, literal.line, "a float in range");
  return static_cast<double>(literal.negative ? -number : number);
}

int64_t read_integer(const Literal& literal) {
  const bool hexadecimal = literal.digits.starts_with("0x");
  const char* begin = literal.digits.data() + (hexadecimal ? 2 : 0);
  const char* end = literal.digits.data() + literal.digits.size();
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number, hexadecimal ? 16 : 10);
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (literal.negative ? 1 : 0);
  if (error != std::errc() || stop != end || number > limit) bad_number(literal.digits, literal.line, "an integer in the range of i64");
  return static_cast<int64_t>(literal.negative ? 0 - number : number);
}

}  // namespace

Literal read_literal(const std::string& text, int line) {
  Literal literal;
  literal.line = line;
  literal.digits = text;
  if (text == "inf" || text == "nan") {
    literal.whole = false;
    return literal;
  }
  if (text.starts_with("0x")) return literal;
  literal.whole = text.find_first_of(".e") == std::string::npos;
  if (text.ends_with('f')) {
    literal.digits.pop_back();
    literal.fixed = Dtype::f32;
  }
  if (literal.digits.find_first_not_of("0123456789.e+-") != std::string::npos) bad_number(text, line, "digits, and f as the only suffix");
  return literal;
}

Value constant_from(Builder& builder, const Literal& literal, std::optional<Dtype> type) {
  const Dtype wanted = type.value_or(literal.fixed.value_or(literal.whole ? Dtype::i64 : Dtype::f32));
  if (literal.fixed && *literal.fixed != wanted)
    bad_number(literal.digits + "f", literal.line, fmt::format("a number of type {}", to_string(wanted)));
  if (wanted == Dtype::b8) bad_number(literal.digits, literal.line, "true or false");
  if (!is_floating(wanted)) {
    if (!literal.whole) bad_number(literal.digits, literal.line, fmt::format("an integer of type {}", to_string(wanted)));
    const int64_t number = read_integer(literal);
    const bool fits =
        wanted == Dtype::i64 ||
        (wanted == Dtype::i32 && number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max()) ||
        (wanted == Dtype::u8 && number >= 0 && number <= 255);
    if (!fits) bad_number(literal.digits, literal.line, fmt::format("an integer in the range of {}", to_string(wanted)));
    return builder.constant(wanted, number);
  }
  if (literal.digits.starts_with("0x")) return builder.constant(wanted, static_cast<double>(read_integer(literal)));
  return builder.constant(wanted, wanted == Dtype::f32 ? read_float<float>(literal) : read_float<double>(literal));
}

}  // namespace anyshape::loop
