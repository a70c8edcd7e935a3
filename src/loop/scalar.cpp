// Scalar meaning of the pure instructions: the corner cases of loop/ir.h, each written out once.
#include "loop/scalar.h"

#include <anyshape/error.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace anyshape::loop {
namespace {

// Calls `body` with a value of the C++ type that stands for `type`; b8 is bool.
template <class Body>
Scalar with_type(Dtype type, Body&& body) {
  switch (type) {
    case Dtype::b8: return body(bool{});
    case Dtype::u8: return body(uint8_t{});
    case Dtype::i32: return body(int32_t{});
    case Dtype::i64: return body(int64_t{});
    case Dtype::f32: return body(float{});
    case Dtype::f64: return body(double{});
    default: throw InternalError("loop: evaluate: f16 and bf16 have no arithmetic; expected a cast to f32 at the load.");
  }
}

[[noreturn]] void no_meaning() {
  throw InternalError("loop: evaluate: an instruction without meaning for its types; expected a verified kernel.");
}

template <std::integral T>
T wrap(uint64_t value) {
  return static_cast<T>(value);
}

template <std::integral T>
T floor_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrap<T>(0 - static_cast<uint64_t>(a));  // the lowest number has no positive twin: it wraps
    T quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
  }
  return a / b;
}

template <std::integral T>
T modulo(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    T rest = a % b;
    return (rest != 0 && (rest < 0) != (b < 0)) ? rest + b : rest;
  }
  return a % b;
}

// Rounding instructions see denormals as zero like all arithmetic does; a library's floor may test bits instead.
template <std::floating_point T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

// Minimum and Maximum choose an operand as it is. Inlined, a compiler makes the choice one instruction that flushes a denormal operand.
template <std::floating_point T>
[[gnu::noinline]] bool is_less(T a, T b) {
  return a < b;
}

template <std::floating_point T>
Scalar float_arithmetic(Op op, T a, T b, T c) {
  switch (op) {
    case Op::Add: return Scalar::of<T>(a + b);
    case Op::Subtract: return Scalar::of<T>(a - b);
    case Op::Multiply: return Scalar::of<T>(a * b);
    case Op::Divide: return Scalar::of<T>(a / b);
    case Op::Minimum: return Scalar::of<T>(a != a ? a : b != b ? b : is_less(b, a) ? b : a);
    case Op::Maximum: return Scalar::of<T>(a != a ? a : b != b ? b : is_less(a, b) ? b : a);
    case Op::Fma: return Scalar::of<T>(std::fma(a, b, c));
    case Op::Negate: return Scalar::of<T>(-a);
    case Op::Absolute: return Scalar::of<T>(std::fabs(a));
    case Op::SquareRoot: return Scalar::of<T>(std::sqrt(a));
    case Op::Floor: return Scalar::of<T>(std::floor(flushed(a)));
    case Op::Ceil: return Scalar::of<T>(std::ceil(flushed(a)));
    case Op::Truncate: return Scalar::of<T>(std::trunc(flushed(a)));
    case Op::Round: return Scalar::of<T>(std::nearbyint(flushed(a)));
    default: no_meaning();
  }
}

// Shift amounts are read as unsigned, so that negative ones count as outside the width.
template <std::integral T>
Scalar shift(Op op, T a, T amount) {
  using Bits = std::make_unsigned_t<T>;
  constexpr uint64_t width = sizeof(T) * 8;
  const auto count = static_cast<uint64_t>(static_cast<Bits>(amount));
  const bool inside = count < width;
  switch (op) {
    case Op::ShiftLeft: return Scalar::of<T>(inside ? wrap<T>(static_cast<uint64_t>(a) << count) : T{0});
    case Op::ShiftRight: return Scalar::of<T>(static_cast<T>(inside ? a >> count : (a < 0 ? -1 : 0)));
    case Op::ShiftRightLogical: return Scalar::of<T>(inside ? static_cast<T>(static_cast<Bits>(a) >> count) : T{0});
    default: no_meaning();
  }
}

template <std::integral T>
Scalar integer_arithmetic(Op op, T a, T b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  switch (op) {
    case Op::Add: return Scalar::of<T>(wrap<T>(x + y));
    case Op::Subtract: return Scalar::of<T>(wrap<T>(x - y));
    case Op::Multiply: return Scalar::of<T>(wrap<T>(x * y));
    case Op::FloorDivide: return Scalar::of<T>(floor_divide(a, b));
    case Op::Modulo: return Scalar::of<T>(modulo(a, b));
    case Op::Minimum: return Scalar::of<T>(b < a ? b : a);
    case Op::Maximum: return Scalar::of<T>(a < b ? b : a);
    case Op::Negate: return Scalar::of<T>(wrap<T>(0 - x));
    case Op::Absolute: return Scalar::of<T>(a < 0 ? wrap<T>(0 - x) : a);
    case Op::And: return Scalar::of<T>(wrap<T>(x & y));
    case Op::Or: return Scalar::of<T>(wrap<T>(x | y));
    case Op::Xor: return Scalar::of<T>(wrap<T>(x ^ y));
    case Op::Not: return Scalar::of<T>(wrap<T>(~x));
    default: return shift<T>(op, a, b);
  }
}

Scalar boolean_logic(Op op, bool a, bool b) {
  switch (op) {
    case Op::And: return Scalar::of<bool>(a && b);
    case Op::Or: return Scalar::of<bool>(a || b);
    case Op::Xor: return Scalar::of<bool>(a != b);
    case Op::Not: return Scalar::of<bool>(!a);
    default: no_meaning();
  }
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::Equal: return a == b;
    case Op::NotEqual: return a != b;
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    default: no_meaning();
  }
}

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    if (value != value) return 0;
    // 2^digits is exact in every float type, the highest integer itself is not.
    const From beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (value >= beyond) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

Scalar scalar_of(const Instruction& constant) {
  return with_type(constant.type, [&](auto kind) {
    using T = decltype(kind);
    if constexpr (std::floating_point<T>) return Scalar::of<T>(static_cast<T>(constant.number));
    return Scalar::of<T>(static_cast<T>(constant.integer));
  });
}

Instruction constant_of(Dtype type, Scalar value) {
  Instruction constant;
  constant.op = Op::Constant;
  constant.type = type;
  with_type(type, [&](auto kind) {
    using T = decltype(kind);
    if constexpr (std::floating_point<T>) {
      constant.number = value.as<T>();
    } else {
      constant.integer = static_cast<int64_t>(value.as<T>());
    }
    return value;
  });
  return constant;
}

Scalar evaluate(Op op, Dtype result, Dtype operand, std::span<const Scalar> args) {
  if (op == Op::Select) return args[0].as<bool>() ? args[1] : args[2];
  if (op == Op::Bitcast) return args[0];
  return with_type(operand, [&](auto kind) {
    using T = decltype(kind);
    const T a = args[0].as<T>();
    const T b = args.size() > 1 ? args[1].as<T>() : T{};
    if (op == Op::Cast) {
      return with_type(result, [&](auto to) { return Scalar::of(converted<decltype(to)>(a)); });
    }
    if (op >= Op::Equal && op <= Op::LessEqual) return Scalar::of<bool>(compare(op, a, b));
    if constexpr (std::floating_point<T>) {
      return float_arithmetic<T>(op, a, b, args.size() > 2 ? args[2].as<T>() : T{});
    } else if constexpr (std::is_same_v<T, bool>) {
      return boolean_logic(op, a, b);
    } else {
      return integer_arithmetic<T>(op, a, b);
    }
  });
}

Scalar identity(Combine combine, Dtype type) {
  return with_type(type, [&](auto kind) {
    using T = decltype(kind);
    using Limits = std::numeric_limits<T>;
    switch (combine) {
      case Combine::Sum: return Scalar::of<T>(T(0));
      case Combine::SumTo: return Scalar::of<T>(static_cast<T>(std::floating_point<T> ? -0.0 : 0.0));
      case Combine::Product: return Scalar::of<T>(T(1));
      case Combine::Maximum: return Scalar::of<T>(Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
      case Combine::Minimum: return Scalar::of<T>(Limits::has_infinity ? Limits::infinity() : Limits::max());
      case Combine::All: return Scalar::of<bool>(true);
      case Combine::Any: return Scalar::of<bool>(false);
    }
    no_meaning();
  });
}

Scalar of_nothing(Combine combine, Dtype type) { return identity(combine == Combine::SumTo ? Combine::Sum : combine, type); }

// Combining flushes denormals whichever way it is done; by themselves, Minimum and Maximum do not.
static Scalar flushed(Dtype type, Scalar value) {
  // While kernels run a denormal equals 0.
  if (type == Dtype::f32 && value.as<float>() == 0) return Scalar::of<float>(std::copysign(0.0F, value.as<float>()));
  if (type == Dtype::f64 && value.as<double>() == 0) return Scalar::of<double>(std::copysign(0.0, value.as<double>()));
  return value;
}

Scalar combined(Combine combine, Dtype type, Scalar a, Scalar b) {
  const Scalar pair[] = {a, b};
  switch (combine) {
    case Combine::Sum:
    case Combine::SumTo: return evaluate(Op::Add, type, type, pair);
    case Combine::Product: return evaluate(Op::Multiply, type, type, pair);
    case Combine::Maximum: return flushed(type, evaluate(Op::Maximum, type, type, pair));
    case Combine::Minimum: return flushed(type, evaluate(Op::Minimum, type, type, pair));
    case Combine::All: return evaluate(Op::And, type, type, pair);
    case Combine::Any: return evaluate(Op::Or, type, type, pair);
  }
  no_meaning();
}

}  // namespace anyshape::loop
