// Arithmetic of types that the library holds in wider ones.
#include "onnx/ops/narrow.h"

#include <anyshape/ops.h>
#include <anyshape/ops/bitwise.h>

#include <limits>

namespace anyshape::onnx {
namespace {

Tensor signed_bits(const Tensor& x, int64_t bits) {
  const int64_t above = 8 * size_of(x.dtype()) - bits;
  return right_shift(left_shift(x, above), above);
}

Tensor number(int64_t value) { return full({}, value, {.dtype = Dtype::i64}); }

// Of numbers up to 2^64 - 1 in the bits of i64: the quotient of the halves, doubled, is right or one too small.
Tensor divided_unsigned(const Tensor& a, const Tensor& b) {
  const Tensor half = bitwise_and(right_shift(a, 1), number(std::numeric_limits<int64_t>::max()));
  const Tensor twice = left_shift(floor_divide(half, b), 1);
  const Tensor is_short = ordered(a - twice * b, ElementType::Uint64) >= ordered(b, ElementType::Uint64);
  const Tensor of_large = cast(ordered(a, ElementType::Uint64) >= ordered(b, ElementType::Uint64), Dtype::i64);
  return where(b < 0, of_large, twice + cast(is_short, Dtype::i64));
}

}  // namespace

Value wrapped(const Tensor& x, ElementType type) {
  switch (type) {
    case ElementType::Int4: return {signed_bits(x, 4), type};
    case ElementType::Int8: return {signed_bits(x, 8), type};
    case ElementType::Int16: return {signed_bits(x, 16), type};
    case ElementType::Uint4: return {bitwise_and(x, 15), type};
    case ElementType::Uint16: return {bitwise_and(x, 65535), type};
    case ElementType::Uint32: return {bitwise_and(x, number(std::numeric_limits<uint32_t>::max())), type};
    default: return {x, type};
  }
}

Tensor ordered(const Tensor& x, ElementType type) {
  return type == ElementType::Uint64 ? bitwise_xor(x, number(std::numeric_limits<int64_t>::min())) : x;
}

Tensor divided(const Tensor& a, const Tensor& b, ElementType type) {
  if (is_floating(a.dtype())) return a / b;
  if (type == ElementType::Uint64) return divided_unsigned(a, b);
  const Tensor down = floor_divide(a, b);
  return where(logical_and(down < 0, down * b != a), down + 1, down);
}

Tensor cut_remainder(const Tensor& a, const Tensor& b, ElementType type) {
  if (type == ElementType::Uint64) return a - divided_unsigned(a, b) * b;
  if (is_floating(a.dtype())) {
    const Tensor rest = remainder(abs(a), abs(b));
    return where(sign_bit(a), -rest, rest);
  }
  const Tensor rest = remainder(a, b);
  return where(logical_and(rest != 0, (rest < 0) != (a < 0)), rest - b, rest);
}

}  // namespace anyshape::onnx
