// The texts of checked arithmetic, kept out of the header so that the fast path stays small.
#include "base/checked.h"

#include <anyshape/error.h>
#include <fmt/format.h>

namespace anyshape {

void throw_overflow(int64_t a, std::string_view operation, int64_t b, std::string_view what) {
  throw ShapeError(
      fmt::format("{}: size overflows: {} {} {}; expected a result that fits 64 bits. Use smaller sizes.", what, a, operation, b));
}

void throw_too_many_bytes(int64_t count, int64_t bytes_each, std::string_view what) {
  throw OutOfMemory(
      fmt::format("{}: {} elements of {} bytes are more than the address space holds. Use smaller sizes.", what, count, bytes_each));
}

void throw_divided_by_zero(int64_t a, std::string_view operation, std::string_view what) {
  throw ShapeError(fmt::format("{}: division by zero: {} {} 0; expected a divisor other than 0.", what, a, operation));
}

}  // namespace anyshape
