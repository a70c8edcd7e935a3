// The header of a .npy file: a Python dictionary with the keys descr, fortran_order and shape.
#pragma once
#include <anyshape/dtype.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

struct NpyHeader {
  Dtype dtype = Dtype::f32;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// FormatError for everything that is not exactly such a dictionary, or names a dtype that tensors do not have.
NpyHeader parse_npy_header(std::string_view text);
std::string print_npy_header(const NpyHeader& header);  // DtypeError for bf16, which the format has no name for

}  // namespace anyshape
