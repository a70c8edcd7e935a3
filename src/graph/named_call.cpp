// Names of calls, and the one wording of refusals.
#include "graph/named_call.h"

#include "graph/bind.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {
namespace {

thread_local const NamedCall* outermost = nullptr;

}  // namespace

void require_operand(std::string_view op, size_t index, const Tensor& operand) {
  if (!operand.defined())
    throw ArgumentError(
        fmt::format("{}: argument {} is an empty tensor handle; expected a tensor with a value.{}", op, index, current_place()));
  if (!is_traced(operand) || operand.impl()->placeholder != nullptr) return;
  if (const RaggedTensor* ragged = as_ragged(operand)) {
    require_operand(op, index, ragged->values);
    require_operand(op, index, ragged->partition->splits);
  } else {
    current_interpreter().require_own(op, operand);
  }
}

std::string_view called_name(const OpDef& op) { return outermost != nullptr ? outermost->name() : op.name; }

std::string operand_name(size_t index, size_t count) {
  if (count == 1) return "x";
  return index < 26 ? std::string(1, static_cast<char>('a' + index)) : fmt::format("input {}", index);
}

std::string refusal(std::string_view op, std::string_view what, std::string_view operands, std::string_view expected,
                    std::string_view place) {
  return fmt::format("{}: {}{}{}; expected {}.{}", op, what, operands.empty() ? "" : ": ", operands, expected, place);
}

void NamedCall::open() {
  if (outermost != nullptr) return;
  for (size_t i = 0; i < count_; ++i) require_operand(name_, i, operand(i));
  outermost = this;
  is_outermost_ = true;
}

NamedCall::~NamedCall() {
  if (is_outermost_) outermost = nullptr;
}

const NamedCall* NamedCall::current() { return outermost; }

std::string NamedCall::describe_operands() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < count_; ++i) texts.push_back(fmt::format("{} is {}", operand_name(i, count_), describe(operand(i))));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string NamedCall::failure(std::string_view what, std::string_view expected) const {
  const NamedCall& said = outermost != nullptr ? *outermost : *this;
  return refusal(said.name_, what, said.describe_operands(), expected);
}

void NamedCall::fail(std::string_view what, std::string_view expected) const { throw ShapeError(failure(what, expected)); }
void NamedCall::fail_dtype(std::string_view what, std::string_view expected) const { throw DtypeError(failure(what, expected)); }
void NamedCall::fail_argument(std::string_view what, std::string_view expected) const { throw ArgumentError(failure(what, expected)); }

int NamedCall::axis(int64_t axis) const { return this->axis(axis, operand(0).rank()); }

int NamedCall::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("axis {} is outside the rank {}", axis, rank), fmt::format("{} <= axis < {}", -rank, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace anyshape
