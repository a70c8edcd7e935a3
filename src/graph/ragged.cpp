// Policies: what an op does with ragged inputs.
#include "graph/ragged.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

[[noreturn]] void refuse_ragged(const RaggedCall& call) {
  throw ShapeError(
      fmt::format("{}: ragged input: {}; expected dense tensors. Use to_padded(x) to fill up the rows, or x.values() for "
                  "their elements.{}",
                  called_name(call.op), describe_inputs(call), current_place()));
}

// A dense operand as it meets the values, by NumPy's rule on the padded shape [rows, length, ...]: what lies along the ragged axis must
// be of size 1, what lies along the rows is repeated for every element of its row.
Tensor beside_values(const RaggedCall& call, const Tensor& dense, const Tensor& ragged) {
  const int rank = ragged.rank(), missing = rank - dense.rank();
  constexpr std::string_view rule = "dense operands that broadcast: of size 1 along the ragged axis, of the number of rows or 1 before it";
  if (missing < 0) refuse(call, "a dense operand has more axes", rule);
  if (missing > 1) return dense;  // the values' own axes
  const Partition& partition = *as_ragged(ragged)->partition;
  Shape shape = dense.shape();
  if (proves_equal(shape[1 - missing], 1) == false) refuse(call, "a dense operand meets the ragged axis", rule);
  shape[1 - missing] = 1;
  if (missing == 1) return broadcast_to(dense, shape);  // inside a trace it checks that the size is 1
  const bool is_one_row = proves_equal(shape[0], 1) == true;
  if (!is_one_row) {
    if (proves_equal(shape[0], partition.rows) == false) refuse(call, "a dense operand has another number of rows", rule);
    shape[0] = partition.rows;
  }
  Shape per_row{shape[0]};
  for (int axis = 2; axis < rank; ++axis) per_row.push_back(shape[axis]);
  const Tensor flat = reshape(broadcast_to(dense, shape), per_row);
  return is_one_row ? flat : segment::repeat(flat, partition.splits, partition.total);
}

std::vector<Tensor> on_values(const RaggedCall& call) {
  const auto widest = std::ranges::max_element(call.inputs, {}, [](const Tensor& x) { return as_ragged(x) != nullptr ? x.rank() : -1; });
  for (const Tensor& input : call.inputs) {
    if (as_ragged(input) != nullptr && input.rank() != widest->rank())
      refuse(call, "ragged operands differ in rank", "ragged operands of one rank");
  }
  CommonRows rows = common_rows(call);
  for (Tensor& operand : rows.operands) {
    if (as_ragged(operand) == nullptr) operand = beside_values(call, operand, *widest);
  }
  for (Tensor& operand : rows.operands) operand = operand.values();
  std::vector<Tensor> results = bind_all(call.op, rows.operands, call.attrs);
  for (Tensor& result : results) result = make_ragged(result, rows.partition);
  return results;
}

}  // namespace

std::string describe_inputs(const RaggedCall& call) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : call.inputs) specs.push_back({input.dtype(), input.shape(), {}});
  return OpCall(call.op, specs, call.attrs).describe_inputs();
}

void refuse(const RaggedCall& call, std::string_view what, std::string_view expected) {
  throw ShapeError(refusal(called_name(call.op), what, describe_inputs(call), expected));
}

CommonRows common_rows(const RaggedCall& call) {
  CommonRows rows{nullptr, {call.inputs.begin(), call.inputs.end()}};
  for (Tensor& operand : rows.operands) {
    const RaggedTensor* ragged = as_ragged(operand);
    if (ragged == nullptr || ragged->partition == rows.partition) continue;
    if (rows.partition == nullptr) {
      rows.partition = ragged->partition;
      continue;
    }
    const Partition &first = *rows.partition, &other = *ragged->partition;
    constexpr std::string_view rule = "ragged operands with equal rows";
    if (first.is_concrete() && other.is_concrete()) {
      if (!have_equal_splits(first, other)) refuse(call, "rows differ in length", rule);
    } else if (proves_equal(first.rows, other.rows) == false) {
      refuse(call, "numbers of rows differ", rule);
    }
    Tensor values = ragged->values;
    if (!first.is_concrete() || !other.is_concrete()) {
      Shape shape = values.shape();
      shape[0] = first.total;
      values = reshape(same_rows(values, other.splits, first.splits), shape);
    }
    operand = make_ragged(values, rows.partition);
  }
  return rows;
}

std::vector<Tensor> bind_ragged(const RaggedCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_operand(called_name(call.op), i, call.inputs[i]);
  if (call.op.ragged_rule != nullptr) return call.op.ragged_rule(call);
  if (call.op.ragged == RaggedPolicy::Values) return on_values(call);
  refuse_ragged(call);
}

}  // namespace anyshape
