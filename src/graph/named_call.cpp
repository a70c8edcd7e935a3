// Names of calls, and the one wording of refusals.
#include "graph/named_call.h"

#include "base/thread_context.h"
#include "graph/bind.h"
#include "graph/described_operands.h"
#include "shape/ragged_refusal.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// An op that takes the ragged axis for a size: told under its name.
void refuse_ragged_axis(const Dim& axis) {
  if (this_thread.named_call == nullptr) return;
  this_thread.named_call->fail(
      fmt::format("it would need one size for the ragged axis {}", to_string(axis)),
      "dense tensors, or axes behind the ragged one. Use to_padded(x) to fill up the rows, or x.values() for their elements");
}

[[maybe_unused]] const bool is_set = (set_ragged_refusal(refuse_ragged_axis), true);

}  // namespace

void require_operand(std::string_view op, size_t index, const Tensor& operand) {
  if (!operand.defined())
    throw ArgumentError(
        fmt::format("{}: argument {} is an empty tensor handle; expected a tensor with a value.{}", op, index, current_place()));
  if (!is_traced(operand) || operand.impl()->placeholder() != nullptr) return;
  if (const RaggedTensor* ragged = as_ragged(operand)) {
    require_operand(op, index, ragged->values);
    require_operand(op, index, ragged->partition->splits);
  } else {
    current_interpreter().require_own(op, operand);
  }
}

std::string_view called_name(const OpDef& op) { return this_thread.named_call != nullptr ? this_thread.named_call->name() : op.name; }

std::string operand_name(size_t index, size_t count) {
  if (count == 1) return "x";
  return index < 26 ? std::string(1, static_cast<char>('a' + index)) : fmt::format("input {}", index);
}

std::string described_operands(size_t count, const std::function<std::string(size_t index)>& describe_one) {
  const size_t shown = count <= few_operands ? count : 3;
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += fmt::format("{}{} is {}", i == 0 ? "" : ", ", operand_name(i, count), describe_one(i));
  return shown < count ? text + fmt::format(" and {} more", count - shown) : text;
}

std::string refusal(std::string_view op, std::string_view what, std::string_view operands, std::string_view expected,
                    std::string_view place) {
  return fmt::format("{}: {}{}{}; expected {}.{}", op, what, operands.empty() ? "" : ": ", operands, expected, place);
}

void NamedCall::open() {
  if (this_thread.named_call != nullptr) return;
  for (size_t i = 0; i < count_; ++i) require_operand(name_, i, operand(i));
  this_thread.named_call = this;
  is_outermost_ = true;
}

NamedCall::~NamedCall() {
  if (is_outermost_) this_thread.named_call = nullptr;
}

const NamedCall* NamedCall::current() { return this_thread.named_call; }

std::string NamedCall::describe_operands() const {
  return described_operands(count_, [&](size_t i) { return describe(operand(i)); });
}

std::string NamedCall::failure(std::string_view what, std::string_view expected) const {
  const NamedCall& said = this_thread.named_call != nullptr ? *this_thread.named_call : *this;
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
