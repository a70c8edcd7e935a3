// What op rules say about a call: requirements that throw, stay open as checks, or vanish because they are proved.
#include "graph/described_operands.h"
#include "graph/named_call.h"
#include "graph/op_def.h"

#include "shape/broadcast.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

std::string OpCall::describe_inputs() const {
  if (const NamedCall* caller = NamedCall::current()) return caller->describe_operands();
  return described_operands(inputs.size(), [&](size_t i) { return to_string(inputs[i]); });
}

static std::string failure(const OpCall& call, std::string_view what, std::string_view expected) {
  return refusal(called_name(call.op), what, call.describe_inputs(), expected);
}

Dim OpCall::make_size(const Dim& bound) {
  made = MadeSize{make_data_symbol(std::string(op.name)), bound};
  return made->symbol;
}

void OpCall::fail(std::string_view what, std::string_view expected) const { throw ShapeError(failure(*this, what, expected)); }
void OpCall::fail_dtype(std::string_view what, std::string_view expected) const { throw DtypeError(failure(*this, what, expected)); }
void OpCall::fail_argument(std::string_view what, std::string_view expected) const { throw ArgumentError(failure(*this, what, expected)); }

void OpCall::require(SizeCheck check, std::string_view what, std::string_view expected) {
  const std::optional<bool> answer =
      facts != nullptr ? facts->proves(check.relation, check.a, check.b) : proves(check.relation, check.a, check.b);
  if (!answer.has_value()) {
    checks.push_back({std::move(check), std::string(what), std::string(expected)});
  } else if (!*answer) {
    fail(what, expected);
  }
}

int OpCall::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    fail(fmt::format("axis {} is outside the rank {}", axis, rank), fmt::format("{} <= axis < {}", -rank, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape OpCall::broadcast() {
  constexpr std::string_view rule = "sizes that are equal or 1, aligned at the last axis";
  std::vector<Shape> shapes;
  for (const TensorSpec& input : inputs) shapes.push_back(input.shape);
  std::optional<Broadcast> result = anyshape::broadcast(shapes, facts);
  if (!result) fail("shapes do not broadcast", rule);
  for (SizeCheck& check : result->checks) checks.push_back({std::move(check), "shapes do not broadcast", std::string(rule)});
  return std::move(result->shape);
}

}  // namespace anyshape
