// Recursion in words.
#include "function/activation.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::function_detail {

void Activation::refuse(const std::string& name) {
  throw TraceError(fmt::format(
      "function \"{}\": it calls itself; expected a graph with an end. Repeat with a loop in C++ or with as::while_loop or as::scan, "
      "or let a plain C++ function call itself.",
      name));
}

}  // namespace anyshape::function_detail
