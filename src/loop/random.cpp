// Counter-based random numbers as loop instructions: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, 2011), uniform and normal numbers from it.
#include <anyshape/error.h>

#include "loop/math.h"
#include "loop/polynomial.h"

namespace anyshape::loop {
namespace {

constexpr double two_to_minus_24 = 0x1p-24;
constexpr double two_to_minus_32 = 0x1p-32;
constexpr double two_to_minus_53 = 0x1p-53;

Value low_word(Builder& b, Value x) { return b.binary(Op::And, x, b.integer(0xffffffff)); }
Value high_word(Builder& b, Value x) { return b.binary(Op::ShiftRightLogical, x, b.integer(32)); }

// Words are kept in i64 while the rounds run: the product of two words needs 64 bits.
struct Round {
  Value low, high;
};
Round multiply(Builder& b, Value word, int64_t factor) {
  const Value product = b.multiply(word, b.integer(factor));
  return {low_word(b, product), high_word(b, product)};
}

// The upper `count` bits of a word as a float: a number from 0 to 2^count - 1, exact.
Value upper_bits(Builder& b, Value word, int64_t count, Dtype type) {
  return b.cast(b.binary(Op::ShiftRightLogical, word, b.constant(Dtype::i32, 32 - count)), type);
}

// 53 bits of two words as a whole f64.
Value wide_bits(Builder& b, Value first, Value second) {
  return b.fma(upper_bits(b, first, 27, Dtype::f64), b.constant(Dtype::f64, 67108864.0), upper_bits(b, second, 26, Dtype::f64));
}

void require_float(Dtype type) {
  if (type != Dtype::f32 && type != Dtype::f64) throw InternalError("loop: random numbers of a type that is neither f32 nor f64.");
}

// cos(2 pi turns) for |turns| <= 1/2, as sin(2 pi (1/4 - |turns|)): an odd polynomial on |z| <= 1/4.
Value cosine_of_turns(Builder& b, Value turns) {
  const Dtype type = b.type(turns);
  const Value z = b.subtract(b.constant(type, 0.25), b.unary(Op::Absolute, turns));
  const Value square = b.multiply(z, z);
  const Value factor =
      type == Dtype::f32
          ? polynomial(b, square, {6.283185273790887, -41.34167747838507, 81.60223124151479, -76.57499214530434, 39.71091782976498})
          : polynomial(b, square,
                       {6.283185307179586, -41.341702240399755, 81.60524927607341, -76.70585975279849, 42.058693923785015,
                        -15.094641620502255, 3.819927050330084, -0.7177235786669002, 0.10085632474360905});
  return b.multiply(z, factor);
}

}  // namespace

RandomWords philox(Builder& b, Value key, Value counter_low, Value counter_high) {
  constexpr int64_t factor_0 = 0xD2511F53;
  constexpr int64_t factor_1 = 0xCD9E8D57;
  constexpr int64_t weyl_0 = 0x9E3779B9;
  constexpr int64_t weyl_1 = 0xBB67AE85;
  Value counter[4] = {low_word(b, counter_low), high_word(b, counter_low), low_word(b, counter_high), high_word(b, counter_high)};
  Value key_0 = low_word(b, key);
  Value key_1 = high_word(b, key);
  for (int round = 0; round < 10; ++round) {
    const Round first = multiply(b, counter[0], factor_0);
    const Round second = multiply(b, counter[2], factor_1);
    counter[0] = b.binary(Op::Xor, b.binary(Op::Xor, second.high, counter[1]), key_0);
    counter[2] = b.binary(Op::Xor, b.binary(Op::Xor, first.high, counter[3]), key_1);
    counter[1] = second.low;
    counter[3] = first.low;
    key_0 = low_word(b, b.add(key_0, b.integer(weyl_0)));
    key_1 = low_word(b, b.add(key_1, b.integer(weyl_1)));
  }
  RandomWords words;
  for (int i = 0; i < 4; ++i) words.word[i] = b.cast(counter[i], Dtype::i32);
  return words;
}

Value uniform_from_words(Builder& b, const RandomWords& words, Dtype type) {
  require_float(type);
  if (type == Dtype::f32) return b.multiply(upper_bits(b, words.word[0], 24, type), b.constant(type, two_to_minus_24));
  return b.multiply(wide_bits(b, words.word[0], words.word[1]), b.constant(type, two_to_minus_53));
}

Value normal_from_words(Builder& b, const RandomWords& words, Dtype type) {
  require_float(type);
  const auto number = [&](double value) { return b.constant(type, value); };
  // The first uniform number lies in (0, 1], half a spacing away from 0, so that its logarithm is finite; the second is an angle in turns.
  Value uniform;
  Value turns;
  if (type == Dtype::f32) {
    uniform = b.fma(upper_bits(b, words.word[0], 31, type), number(2 * two_to_minus_32), number(two_to_minus_32));
    turns = b.multiply(b.cast(words.word[1], type), number(two_to_minus_32));
  } else {
    uniform = b.fma(wide_bits(b, words.word[0], words.word[1]), number(two_to_minus_53), number(two_to_minus_53 / 2));
    turns = b.subtract(b.multiply(wide_bits(b, words.word[2], words.word[3]), number(two_to_minus_53)), number(0.5));
  }
  const Value radius = b.unary(Op::SquareRoot, b.multiply(log(b, uniform), number(-2.0)));
  return b.multiply(radius, cosine_of_turns(b, turns));
}

}  // namespace anyshape::loop
