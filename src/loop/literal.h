// A number in kernel text before its type is known: `x * 2` makes the 2 a number of x's type.
#pragma once
#include <optional>
#include <string>

#include "loop/build.h"

namespace anyshape::loop {

struct Literal {
  std::string digits;  // as written, without sign and suffix; also inf, nan
  bool negative = false;
  bool whole = true;           // no point, no exponent
  std::optional<Dtype> fixed;  // by a suffix
  int line = 1;
};

// Reads a number token; FormatError where it is none.
Literal read_literal(const std::string& text, int line);

// The constant of that type; FormatError where the type cannot hold it. Without a type: i64, or f32 for numbers with point or exponent.
Value constant_from(Builder& builder, const Literal& literal, std::optional<Dtype> type);

}  // namespace anyshape::loop
