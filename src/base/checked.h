// Integer arithmetic on sizes, bytes and offsets that throws instead of wrapping. `what` names the quantity in the error's text.
#pragma once
#include <cstdint>
#include <string_view>

namespace anyshape {

[[noreturn]] void throw_overflow(int64_t a, std::string_view operation, int64_t b, std::string_view what);  // ShapeError
[[noreturn]] void throw_too_many_bytes(int64_t count, int64_t bytes_each, std::string_view what);           // OutOfMemory
[[noreturn]] void throw_divided_by_zero(int64_t a, std::string_view operation, std::string_view what);      // ShapeError

inline int64_t checked_add(int64_t a, int64_t b, std::string_view what = "size") {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow(a, "+", b, what);
  return result;
}

inline int64_t checked_subtract(int64_t a, int64_t b, std::string_view what = "size") {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) throw_overflow(a, "-", b, what);
  return result;
}

inline int64_t checked_multiply(int64_t a, int64_t b, std::string_view what = "size") {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow(a, "*", b, what);
  return result;
}

// The bytes of `count` elements: one too large for the address space is a lack of memory, not a wrong shape.
inline int64_t checked_bytes(int64_t count, int64_t bytes_each, std::string_view what = "buffer") {
  int64_t result;
  if (__builtin_mul_overflow(count, bytes_each, &result)) throw_too_many_bytes(count, bytes_each, what);
  return result;
}

// Rounded down; the remainder has the sign of the divisor. Both as Dim's `/` and `%`.
inline int64_t checked_floor_divide(int64_t a, int64_t b, std::string_view what = "size") {
  if (b == 0) throw_divided_by_zero(a, "/", what);
  if (b == -1) return checked_subtract(0, a, what);
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

inline int64_t checked_floor_modulo(int64_t a, int64_t b, std::string_view what = "size") {
  if (b == 0) throw_divided_by_zero(a, "%", what);
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

// `bytes` rounded up to a multiple of `alignment`.
inline int64_t checked_round_up(int64_t bytes, int64_t alignment, std::string_view what = "buffer") {
  return checked_floor_divide(checked_add(bytes, alignment - 1, what), alignment, what) * alignment;
}

}  // namespace anyshape
