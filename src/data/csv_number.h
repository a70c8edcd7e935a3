// Numbers in comma-separated values.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace anyshape::data {

// All of the text as one number, with at most one sign. What is too small for a double is 0 with its sign, as everywhere; what is too large
// is infinite, and `overflows` says so.
struct CsvNumber {
  double value = 0;
  bool overflows = false;
};
std::optional<CsvNumber> number_in(std::string_view text);
std::optional<int64_t> integer_in(std::string_view text);  // digits only, in the range of 64 bits

}  // namespace anyshape::data
