// Numbers as NumPy prints them in arrays: one format for all elements, so that columns line up.
#pragma once
#include <anyshape/dtype.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape {

// Floating elements by value, with the dtype that decides how many digits tell two neighbours apart. All texts have the same width.
std::vector<std::string> format_floats(std::span<const double> values, Dtype dtype);
std::vector<std::string> format_integers(std::span<const int64_t> values);
std::vector<std::string> format_bools(std::span<const int64_t> values);

// A number alone: all the digits it needs, no padding.
std::string format_float(double value, Dtype dtype);

}  // namespace anyshape
