// Digits come from the C++ library's exact conversions; what is here are NumPy's rules for how many to show. They follow NumPy 2.4.
#include "tensor/number_text.h"

#include "tensor/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace anyshape {
namespace {

constexpr int most_digits = 8;  // after the point

template <class Number, class... Format>
std::string digits_of(Number value, Format... format) {
  char text[512];  // the longest is 1.8e308 in positional form
  const auto end = std::to_chars(text, text + sizeof(text), value, format...);
  return {text, end.ptr};
}

double parsed(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The shortest digits that read back as the same 16-bit number. `format` decides the form, as for the wider ones.
template <class Narrow>
std::string shortest_narrow(double value, std::chars_format format) {
  for (int precision = 0; precision < 8; ++precision) {
    const double back = parsed(digits_of(value, std::chars_format::scientific, precision));
    if (Narrow(back).bits == Narrow(value).bits) return digits_of(back, format);
  }
  return digits_of(value, format);
}

std::string shortest(double value, Dtype dtype, std::chars_format format) {
  switch (dtype) {
    case Dtype::f16: return shortest_narrow<Float16>(value, format);
    case Dtype::bf16: return shortest_narrow<Bfloat16>(value, format);
    case Dtype::f32: return digits_of(static_cast<float>(value), format);
    default: return digits_of(value, format);
  }
}

struct Parts {
  std::string whole;     // with the sign
  std::string fraction;  // without trailing zeros
  std::string exponent;  // with its sign; empty in positional form
};

Parts split(const std::string& text) {
  Parts parts;
  const size_t e = text.find('e');
  if (e != std::string::npos) parts.exponent = text.substr(e + 1);
  const std::string number = text.substr(0, e);
  const size_t point = number.find('.');
  parts.whole = number.substr(0, point);
  if (point != std::string::npos) parts.fraction = number.substr(point + 1);
  parts.fraction.erase(parts.fraction.find_last_not_of('0') + 1);
  return parts;
}

Parts parts_of(double value, Dtype dtype, std::chars_format format) {
  Parts parts = split(shortest(value, dtype, format));
  if (parts.fraction.size() > most_digits) parts = split(digits_of(value, format, most_digits));
  return parts;
}

// The decimal digits a dtype surely holds.
int decimal_digits(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16: return 3;
    case Dtype::bf16: return 2;
    case Dtype::f32: return 6;
    default: return 15;
  }
}

bool needs_exponent(std::span<const double> values, Dtype dtype) {
  double largest = 0, smallest = INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  if (largest == 0) return false;
  // The quotient is taken in the element type: rounding decides at exactly 1000.
  const double ratio = dtype == Dtype::f64 ? largest / smallest : static_cast<float>(largest) / static_cast<float>(smallest);
  return largest >= std::pow(10.0, std::min(8, decimal_digits(dtype))) || smallest < 0.0001 || ratio > 1000;
}

// All elements show as many digits as the one that needs most, and these are exact: more than the shortest where there is room.
std::string exponent_text(double value, size_t fraction, size_t exponents) {
  const std::string text = digits_of(value, std::chars_format::scientific, static_cast<int>(fraction));
  const size_t e = text.find('e');
  const std::string power(exponents - (text.size() - e - 1), '0');  // 1e+05 beside 1e+100 is 1e+005
  return fmt::format("{}{}{}{}{}", text.substr(0, e), fraction == 0 ? "." : "", text.substr(e, 2), power, text.substr(e + 2));
}

std::string non_finite(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }

}  // namespace

std::vector<std::string> format_floats(std::span<const double> values, Dtype dtype) {
  const bool exponent = needs_exponent(values, dtype);
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  std::vector<Parts> all;
  size_t whole = 0, fraction = 0, exponents = 0, other = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      all.emplace_back();
      other = std::max(other, non_finite(value).size());
      continue;
    }
    const Parts& parts = all.emplace_back(parts_of(value, dtype, format));
    whole = std::max(whole, parts.whole.size());
    fraction = std::max(fraction, parts.fraction.size());
    exponents = std::max(exponents, parts.exponent.size());
  }
  const size_t width = std::max(whole + 1 + fraction + (exponent ? 1 + exponents : 0), other);
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string text;
    if (!std::isfinite(values[i])) {
      text = non_finite(values[i]);
    } else if (exponent) {
      text = exponent_text(values[i], fraction, exponents);
    } else {
      text = fmt::format("{}.{: <{}}", all[i].whole, all[i].fraction, fraction);
    }
    texts.push_back(fmt::format("{: >{}}", text, width));
  }
  return texts;
}

std::vector<std::string> format_integers(std::span<const int64_t> values) {
  size_t width = 0;
  for (const int64_t value : values) width = std::max(width, fmt::formatted_size("{}", value));
  std::vector<std::string> texts;
  for (const int64_t value : values) texts.push_back(fmt::format("{:>{}}", value, width));
  return texts;
}

std::vector<std::string> format_bools(std::span<const int64_t> values) {
  std::vector<std::string> texts;
  for (const int64_t value : values) texts.emplace_back(value != 0 ? " True" : "False");
  return texts;
}

std::string format_float(double value, Dtype dtype) {
  if (!std::isfinite(value)) return non_finite(value);
  const double size = std::abs(value);
  const double positional_below = dtype == Dtype::f64 ? 1e16 : std::pow(10.0, decimal_digits(dtype));
  if (size == 0 || (size >= 1e-4 && size < positional_below)) {
    const Parts parts = split(shortest(value, dtype, std::chars_format::fixed));
    return fmt::format("{}.{}", parts.whole, parts.fraction.empty() ? "0" : parts.fraction);
  }
  return shortest(value, dtype, std::chars_format::scientific);
}

}  // namespace anyshape
