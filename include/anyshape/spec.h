// What is known of a tensor before it exists: dtype, sizes and, in signatures, the argument's name.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/shape.h>

#include <iosfwd>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

/// Dtype, sizes and name of a tensor; sizes may be symbols, the name may be empty.
struct TensorSpec {
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::string name = {};
};

/// spec(f32, {batch, 784}, "x") in a signature.
TensorSpec spec(Dtype dtype, Shape shape, std::string name = {});
std::string to_string(const TensorSpec& spec);  ///< "f32[batch, 784]"
std::ostream& operator<<(std::ostream& out,
                         const TensorSpec& spec);  ///< as to_string, behind the name if there is one: "x: f32[batch, 784]"

}  // namespace anyshape
#pragma GCC visibility pop
