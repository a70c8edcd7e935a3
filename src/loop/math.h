// Functions expanded into loop instructions, so that interpreter and machine code agree in every bit. f32 and f64. Largest errors in ULP of
// the result type, denormal arguments and results being zero, stand beside each; no function branches or reads a table, so all run in lanes.
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

Value exp(Builder& b, Value x);  // 1
// The bits of exp where x is at most 88 (f32) or 709 (f64), minus infinity or NaN, in fewer instructions.
Value exp_at_most_zero(Builder& b, Value x);
Value expm1(Builder& b, Value x);     // 2; exp(x) - 1, accurate near 0
Value log(Builder& b, Value x);       // 1; 0 gives -infinity, less gives NaN
Value log1p(Builder& b, Value x);     // 2; log(1 + x), accurate near 0
Value sinh(Builder& b, Value x);      // 3
Value cosh(Builder& b, Value x);      // 3
Value tanh(Builder& b, Value x);      // 3; never beyond -1 .. 1; tanh(-x) == -tanh(x)
Value sigmoid(Builder& b, Value x);   // 3; keeps its relative accuracy where the result is tiny
Value softplus(Builder& b, Value x);  // 3; log(1 + exp(x)) without overflow
Value erf(Builder& b, Value x);       // 2

// f32: right for every finite argument. f64: up to trigonometry_limit; larger arguments, whose neighbours lie hundredths of a radian
// apart and more, give NaN rather than a number that means nothing.
inline constexpr double trigonometry_limit = 35184372088832.0;  // 2^45
Value sin(Builder& b, Value x);                                 // 2
Value cos(Builder& b, Value x);                                 // 2
Value tan(Builder& b, Value x);                                 // 4

Value asin(Builder& b, Value x);            // 3; outside -1 .. 1 NaN
Value acos(Builder& b, Value x);            // 3
Value atan(Builder& b, Value x);            // 3
Value atan2(Builder& b, Value y, Value x);  // 4; the angle of the point (x, y), zeros and infinities as in IEEE 754

Value pow(Builder& b, Value x, Value y);  // 2, in f32 1; corner cases as in IEEE 754; exact where the result is a small integer in f32
// The two of Python: the quotient rounded down, and the rest with the sign of the divisor. Floats: the rest is exact while the quotient
// is below 2^100. Integers: as Op::FloorDivide and Op::Modulo.
Value floor_divide(Builder& b, Value x, Value y);
Value remainder(Builder& b, Value x, Value y);
Value integer_pow(Builder& b, Value x, Value y);  // wraps; a negative exponent gives the reciprocal cut to an integer

// Philox 4x32-10: four i32 words that depend on nothing but key and counter. All three are i64: the key's words are the low and the high half
// of `key`, the counter's four words the halves of `counter_low`, then those of `counter_high`.
struct RandomWords {
  Value word[4];
};
RandomWords philox(Builder& b, Value key, Value counter_low, Value counter_high);
Value uniform_from_words(Builder& b, const RandomWords& words, Dtype type);  // [0, 1): 24 bits of the first word, or 53 of the first two
Value normal_from_words(Builder& b, const RandomWords& words, Dtype type);  // Box-Muller, mean 0, deviation 1; f32 uses the first two words

}  // namespace anyshape::loop
