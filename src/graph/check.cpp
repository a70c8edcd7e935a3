// A failed check in words, the same at the call that traces and at every later one.
#include "graph/check.h"

#include "graph/named_call.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::graph {

void throw_failed(const Check& check, const Bindings& sizes, std::string_view function) {
  std::string values;
  for (const Dim& side : {check.check.a, check.check.b}) {
    if (!side.is_constant()) values += fmt::format("{}{} = {}", values.empty() ? " with " : ", ", to_string(side), evaluate(side, sizes));
  }
  throw ShapeError(fmt::format("{} In function \"{}\".", refusal(check.op, check.what, check.operands + values, check.expected), function));
}

}  // namespace anyshape::graph
