// What the expansions of loop/math.h share: the formats of the two float types, the reduction behind every exponential, signs, constants.
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

// What depends on the width of the type.
struct Format {
  Dtype bits;        // the integer type of the same width
  int64_t mantissa;  // bits of it
  int64_t one;       // the bits of 1.0
  double magic;      // 1.5 * 2^mantissa: adding it leaves the nearest integer in the low bits
  double ln2_high;   // ln 2 in the type, and what is missing
  double ln2_low;
  double exp_highest;  // the largest argument whose exp is finite
  double exp_lowest;   // the smallest whose exp is no denormal
};
inline constexpr Format f32_format = {
    Dtype::i32, 23, 0x3f800000, 12582912.0, 0.693147182464599609375, -1.904654323148236017e-09, 88.72283172607421875, -87.336540222167969};
inline constexpr Format f64_format = {Dtype::i64,
                                      52,
                                      0x3ff0000000000000,
                                      6755399441055744.0,
                                      0.69314718055994528623,
                                      2.319046813846299616e-17,
                                      709.782712893383973096,
                                      -708.396418532264106};

const Format& format_of(const Builder& b, Value x);  // InternalError for what is neither f32 nor f64

// x = n ln 2 + rest with |rest| <= ln 2 / 2.
struct Reduced {
  Value rest;
  Value exponent;  // n, already shifted to where the exponent's bits are
};
Reduced reduce_exponent(Builder& b, Value x);

// The same where 2^n is a normal number.
struct ReducedInRange {
  Value rest;
  Value scale;  // 2^n
};
ReducedInRange reduce_in_range(Builder& b, Value x);
Value exp_tail(Builder& b, Value r);                  // (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2
Value with_sign_of(Builder& b, Value size, Value x);  // |size| with the sign bit of x

// Constants of the type of `like`.
class Numbers {
 public:
  Numbers(Builder& b, Value like) : b_(b), type_(b.type(like)) {}
  Value operator()(double number) const { return b_.constant(type_, number); }

 private:
  Builder& b_;
  Dtype type_;
};

}  // namespace anyshape::loop
