// l1, l2 and both.
#include "base/near_names.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/regularizer.h>

#include <array>

namespace anyshape {

Regularizer l1(double strength) {
  return [strength](const Tensor& weight) { return sum(abs(weight)) * strength; };
}
Regularizer l2(double strength) {
  return [strength](const Tensor& weight) { return sum(square(weight)) * strength; };
}
Regularizer l1_l2(double first, double second) {
  return [first, second](const Tensor& weight) { return sum(abs(weight)) * first + sum(square(weight)) * second; };
}

Regularizer::Regularizer(const char* name) {
  const std::array<std::string, 3> names = {"l1", "l2", "l1_l2"};
  if (name == names[0]) {
    *this = l1();
  } else if (name == names[1]) {
    *this = l2();
  } else if (name == names[2]) {
    *this = l1_l2();
  } else {
    throw ArgumentError("regularizer: " + unknown_name("regularizer", name, names));
  }
}

}  // namespace anyshape
