// One element of a tensor on the host: its C++ type for each dtype, and conversion between them.
#pragma once
#include <anyshape/dtype.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anyshape {

struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(double number) : bits(std::bit_cast<uint16_t>(static_cast<_Float16>(number))) {}
  operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
};

struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(double number) {
    const auto near = static_cast<float>(number);
    auto wide = std::bit_cast<uint32_t>(near);
    // Rounded to odd first, so that the second rounding sees what the first has cut off.
    if (static_cast<double>(near) != number && wide % 2 == 0) wide += std::abs(static_cast<double>(near)) > std::abs(number) ? -1U : 1U;
    const uint32_t rounding = 0x7FFFU + ((wide >> 16) & 1U);  // to nearest, ties to even
    bits = static_cast<uint16_t>(std::isnan(number) ? std::bit_cast<uint32_t>(near) >> 16 | 0x40U : (wide + rounding) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

template <class T>
concept NarrowFloat = std::same_as<T, Float16> || std::same_as<T, Bfloat16>;

// Calls `visitor` with a zero of the dtype's element type.
template <class Visitor>
decltype(auto) with_element(Dtype dtype, Visitor&& visitor) {
  switch (dtype) {
    case Dtype::b8: return visitor(bool{});
    case Dtype::u8: return visitor(uint8_t{});
    case Dtype::i32: return visitor(int32_t{});
    case Dtype::i64: return visitor(int64_t{});
    case Dtype::f16: return visitor(Float16{});
    case Dtype::bf16: return visitor(Bfloat16{});
    case Dtype::f32: return visitor(float{});
    case Dtype::f64: break;
  }
  return visitor(double{});
}

// As in C++, but a floating number outside an integer's range becomes the nearest end of it, and NaN becomes 0.
template <class To, class From>
To convert_element(From value) {
  if constexpr (NarrowFloat<From>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (std::same_as<To, bool>) {
    return value != From{};
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else if constexpr (NarrowFloat<To>) {
    return To(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace anyshape
