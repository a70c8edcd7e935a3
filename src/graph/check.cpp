// A failed check in words.
#include "graph/check.h"

#include "graph/named_call.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::graph {

void throw_failed(const Check& check, int64_t a, int64_t b, std::string_view place) {
  std::string values;
  for (const auto& [side, value] : {std::pair(check.check.a, a), std::pair(check.check.b, b)}) {
    if (!side.is_constant()) values += fmt::format("{}{} = {}", values.empty() ? " with " : ", ", to_string(side), value);
  }
  throw ShapeError(fmt::format("{} In {}.", refusal(check.op, check.what, check.operands + values, check.expected, check.place), place));
}

void throw_failed(const Check& check, const Bindings& sizes, std::string_view function) {
  throw_failed(check, evaluate(check.check.a, sizes), evaluate(check.check.b, sizes), fmt::format("function \"{}\"", function));
}

}  // namespace anyshape::graph
