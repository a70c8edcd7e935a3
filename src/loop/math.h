// Functions expanded into loop instructions, so that interpreter and machine code agree in every bit. f32 and f64. Largest errors in ULP of
// the result type, denormal arguments and results being zero: exp 1, log 1, tanh 3, sigmoid 3.
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

Value exp(Builder& b, Value x);
Value log(Builder& b, Value x);      // 0 gives -infinity, less gives NaN
Value tanh(Builder& b, Value x);     // never beyond -1 .. 1; tanh(-x) == -tanh(x)
Value sigmoid(Builder& b, Value x);  // keeps its relative accuracy where the result is tiny

// Philox 4x32-10: four i32 words that depend on nothing but key and counter. All three are i64: the key's words are the low and the high half
// of `key`, the counter's four words the halves of `counter_low`, then those of `counter_high`.
struct RandomWords {
  Value word[4];
};
RandomWords philox(Builder& b, Value key, Value counter_low, Value counter_high);
Value uniform_from_words(Builder& b, const RandomWords& words, Dtype type);  // [0, 1): 24 bits of the first word, or 53 of the first two
Value normal_from_words(Builder& b, const RandomWords& words, Dtype type);   // Box-Muller, mean 0, deviation 1; f32 uses the first two words

}  // namespace anyshape::loop
