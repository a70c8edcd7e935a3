// Functions expanded into loop instructions, so that interpreter and machine code agree in every bit. f32 and f64. Errors in ULP of the
// result type, denormal results flushed: exp 1, log 1, tanh 2 (f64: 2, 2, 3).
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

Value exp(Builder& b, Value x);
Value log(Builder& b, Value x);
Value tanh(Builder& b, Value x);
Value sigmoid(Builder& b, Value x);

// Philox 4x32-10 of (key, counter): four i32 words. Key and counter parts are i64 values of which the low 32 bits count per word.
struct RandomWords { Value word[4]; };
RandomWords philox(Builder& b, Value key, Value counter_low, Value counter_high);
Value uniform_from_words(Builder& b, const RandomWords& words, Dtype type);  // [0, 1)
Value normal_from_words(Builder& b, const RandomWords& words, Dtype type);   // Box-Muller, mean 0, deviation 1

}  // namespace anyshape::loop
