// Reading numbers without a locale. What leaves the range of a double is told apart by where its first digit stands.
#include "data/csv_number.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace anyshape::data {
namespace {

// Without a plus; none where another sign follows it.
std::optional<std::string_view> without_plus(std::string_view text) {
  if (!text.starts_with('+')) return text;
  text.remove_prefix(1);
  if (text.starts_with('-')) return std::nullopt;
  return text;
}

// Of a number outside the range of a double: whether it is nearer to 0 than 1 is.
bool is_small(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t mark = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, mark);
  const size_t first = digits.find_first_of("123456789"), point = std::min(digits.find('.'), digits.size());
  if (first == std::string_view::npos) return true;  // zeros only
  auto magnitude =
      static_cast<int64_t>(point) - static_cast<int64_t>(first);  // of the first digit: 1 where it stands right before the point
  if (mark == std::string_view::npos) return magnitude <= 0;
  std::string_view exponent = text.substr(mark + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t power = 0;
  const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  return __builtin_add_overflow(magnitude, power, &magnitude) ? power < 0 : magnitude <= 0;
}

}  // namespace

std::optional<CsvNumber> number_in(std::string_view text) {
  const std::optional<std::string_view> number = without_plus(text);
  if (!number || number->empty()) return std::nullopt;
  double value = 0;
  const char* const first = number->data();
  const char* const last = first + number->size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (end != last) return std::nullopt;
  if (error == std::errc()) return CsvNumber{value};
  if (error != std::errc::result_out_of_range) return std::nullopt;
  const bool overflows = !is_small(*number);
  const double size = overflows ? std::numeric_limits<double>::infinity() : 0.0;
  return CsvNumber{number->starts_with('-') ? -size : size, overflows};
}

std::optional<int64_t> integer_in(std::string_view text) {
  const std::optional<std::string_view> number = without_plus(text);
  if (!number || number->empty()) return std::nullopt;
  int64_t value = 0;
  const char* const first = number->data();
  const char* const last = first + number->size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace anyshape::data
