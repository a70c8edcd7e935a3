// One kernel being written: its builder, and the tables that tie its integers and buffers to the program's sizes and values.
#pragma once
#include "loop/build.h"
#include "lower/program.h"

#include <map>
#include <string>
#include <unordered_map>

#include "shape/dim_node.h"

namespace anyshape::lower {

class KernelWriter {
 public:
  explicit KernelWriter(std::string name) : b(std::move(name)) {}

  loop::Builder b;
  loop::Value size(const Dim& dim);                       // as an i64; a number where it is one
  loop::Value parameter(const Dim& dim);                  // given at the call even then: such kernels serve many sizes
  loop::Value bound(std::string name, const Dim& whole);  // given anew for each part of the work; `whole` is that of all of it
  int32_t buffer(int program_buffer, Dtype dtype, loop::Access access);  // declared once, with one access
  Launch finish();

 private:
  struct Parameter {
    int32_t number;
    loop::Access access;
  };
  std::unordered_map<Dim, loop::Value, DimHash, DimSame> sizes_;
  std::unordered_map<int, Parameter> parameters_;
  std::vector<int> buffers_;
  std::vector<Dim> dims_;
};

}  // namespace anyshape::lower
