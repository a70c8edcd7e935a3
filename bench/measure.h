// What our benchmark programs share: timing as bench/peers/harness.py does it, and JSON lines for bench/compare.
#pragma once
#include <anyshape/anyshape.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace bench {

inline double milliseconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Times of `samples` calls after `warm` untimed ones, shortest first.
inline std::vector<double> repeated(int warm, int samples, const std::function<void()>& body) {
  for (int i = 0; i < warm; ++i) body();
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(milliseconds(body));
  std::ranges::sort(times);
  return times;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline double calibration = 0;  // ms of a 1024 x 1024 product: how busy the machine was

inline void calibrate() {
  const anyshape::Tensor a = anyshape::random::normal({1024, 1024}), b = anyshape::random::normal({1024, 1024});
  calibration = repeated(2, 9, [&] { anyshape::matmul(a, b); })[4];
}

inline void emit(const char* metric, double value) {
  std::printf("{\"peer\": \"anyshape\", \"metric\": \"%s\", \"value\": %.6g, \"calibration_ms\": %.4f}\n", metric, value, calibration);
}

}  // namespace bench
