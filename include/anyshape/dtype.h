// Element types of tensors, in promotion order: b8 < u8 < i32 < i64 < f16, bf16 < f32 < f64. f16 and bf16 are ways to store: what is
// computed from them is computed in f32 and rounded once. f16 with bf16 gives f32.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape {

/// What one element of a tensor is; b8 is a truth value in one byte. as::f32 is short for as::Dtype::f32.
enum class Dtype : uint8_t { b8, u8, i32, i64, f16, bf16, f32, f64 };
/// The dtypes without the name of their enum.
///@{
inline constexpr Dtype b8 = Dtype::b8, u8 = Dtype::u8, i32 = Dtype::i32, i64 = Dtype::i64;
inline constexpr Dtype f16 = Dtype::f16, bf16 = Dtype::bf16, f32 = Dtype::f32, f64 = Dtype::f64;
///@}

/// Bytes of one element.
constexpr int64_t size_of(Dtype dtype) {
  constexpr int64_t bytes[] = {1, 1, 4, 8, 2, 2, 4, 8};
  return bytes[static_cast<int>(dtype)];
}

/// f16, bf16, f32 and f64 are floating; u8, i32 and i64 are integers; b8 is neither.
///@{
constexpr bool is_floating(Dtype dtype) { return dtype >= Dtype::f16; }
constexpr bool is_integer(Dtype dtype) { return dtype == Dtype::u8 || dtype == Dtype::i32 || dtype == Dtype::i64; }
///@}

/// The name as printed in specs and errors: "f32".
constexpr std::string_view to_string(Dtype dtype) {
  constexpr std::string_view names[] = {"b8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, Dtype dtype);  ///< as to_string

namespace detail {

/// What dtype_of says, by type.
template <class T>
struct DtypeOf;
template <>
struct DtypeOf<bool> {
  static constexpr Dtype value = Dtype::b8;
};
template <>
struct DtypeOf<uint8_t> {
  static constexpr Dtype value = Dtype::u8;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr Dtype value = Dtype::i32;
};
template <>
struct DtypeOf<int64_t> {
  static constexpr Dtype value = Dtype::i64;
};
template <>
struct DtypeOf<long long> {
  static constexpr Dtype value = Dtype::i64;
};
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};

}  // namespace detail

/// The dtype of a C++ element type: dtype_of<float> == f32.
template <class T>
inline constexpr Dtype dtype_of = detail::DtypeOf<T>::value;

}  // namespace anyshape
#pragma GCC visibility pop
