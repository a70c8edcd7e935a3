// How far an expansion of loop/math.h is from libm in long double: runs it in the interpreter and measures in units of the last place.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <vector>

#include "loop/interpret.h"
#include "loop/math.h"

namespace anyshape::loop {

using Function = Value (*)(Builder&, Value);

template <class T>
std::vector<T> apply(Function function, std::vector<T> inputs) {
  Builder b("apply");
  const int32_t x = b.buffer("x", dtype_of<T>, Access::In);
  const int32_t y = b.buffer("y", dtype_of<T>, Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) { b.store(y, i, function(b, b.load(x, i))); });
  std::vector<T> outputs(inputs.size());
  void* buffers[] = {inputs.data(), outputs.data()};
  const int64_t dims[] = {static_cast<int64_t>(inputs.size())};
  interpret(b.finish(), nullptr, buffers, dims, nullptr);
  return outputs;
}

// The distance to the true result in units of the last place that a result of its size has.
template <class T>
double ulp_error(T got, long double expected) {
  if (std::fabs(expected) < std::numeric_limits<T>::min()) return got == 0 || std::fabs(got) <= std::numeric_limits<T>::min() ? 0 : 1e9;
  int exponent = 0;
  std::frexp(expected, &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

// Evenly spaced numbers, and numbers of both signs in every binade.
template <class T>
std::vector<T> samples(T from, T to, bool all_binades) {
  std::vector<T> inputs;
  constexpr int count = 60000;
  for (int i = 0; i <= count; ++i) inputs.push_back(from + (to - from) * static_cast<T>(i) / count);
  for (int exponent = std::numeric_limits<T>::min_exponent; all_binades && exponent < std::numeric_limits<T>::max_exponent; ++exponent) {
    for (int step = 0; step < 24; ++step) {
      const T number = std::ldexp(T(1) + static_cast<T>(step * 0.041234567), exponent - 1);
      if (number <= to) inputs.push_back(number);
      if (-number >= from) inputs.push_back(-number);
    }
  }
  return inputs;
}

template <class T>
double worst(Function function, const std::function<long double(long double)>& exact, const std::vector<T>& inputs) {
  const std::vector<T> outputs = apply<T>(function, inputs);
  double largest = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = ulp_error<T>(outputs[i], exact(static_cast<long double>(inputs[i])));
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

template <class T>
void expect_accurate(const char* name, Function function, long double (*exact)(long double), T from, T to, double bound) {
  const double error = worst<T>(function, exact, samples<T>(from, to, true));
  EXPECT_LE(error, bound) << name << (sizeof(T) == 4 ? " f32" : " f64");
  std::cout << name << (sizeof(T) == 4 ? " f32 " : " f64 ") << from << " .. " << to << ": at most " << error << " ULP\n";
}

// Of two arguments.
using BinaryFunction = Value (*)(Builder&, Value, Value);

template <class T>
std::vector<T> apply(BinaryFunction function, std::vector<T> left, std::vector<T> right) {
  Builder b("apply");
  const int32_t x = b.buffer("x", dtype_of<T>, Access::In);
  const int32_t y = b.buffer("y", dtype_of<T>, Access::In);
  const int32_t out = b.buffer("out", dtype_of<T>, Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) { b.store(out, i, function(b, b.load(x, i), b.load(y, i))); });
  std::vector<T> outputs(left.size());
  void* buffers[] = {left.data(), right.data(), outputs.data()};
  const int64_t dims[] = {static_cast<int64_t>(left.size())};
  interpret(b.finish(), nullptr, buffers, dims, nullptr);
  return outputs;
}

}  // namespace anyshape::loop
