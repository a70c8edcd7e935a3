// Policies: what an op does with ragged inputs.
#include "graph/ragged.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

[[noreturn]] void refuse_ragged(const RaggedCall& call) {
  throw ShapeError(
      fmt::format("{}: ragged input: {}; expected dense tensors. Use to_padded(x) to fill up the rows, or x.values() for "
                  "their elements.",
                  called_name(call.op), describe_inputs(call)));
}

bool is_one(const Dim& size) { return proves_equal(size, 1).value_or(false); }

// A dense operand as it meets the values, by NumPy's rule on the padded shape [rows, length, ...]: what lies along the ragged axis must
// be of size 1, what lies along the rows is repeated for every element of its row.
Tensor beside_values(const RaggedCall& call, const Tensor& dense, const Tensor& ragged) {
  const int rank = ragged.rank(), missing = rank - dense.rank();
  constexpr std::string_view rule = "dense operands that broadcast: of size 1 along the ragged axis, of the number of rows or 1 before it";
  if (missing < 0) refuse(call, "a dense operand has more axes", rule);
  const Shape shape = dense.shape();
  if (missing > 1) return dense;  // the values' own axes
  const Partition& partition = *as_ragged(ragged)->partition;
  if (!is_one(shape[1 - missing])) refuse(call, "a dense operand meets the ragged axis", rule);
  if (missing == 1) return dense;
  Shape per_row;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != 1) per_row.push_back(shape[axis]);
  }
  const Tensor flat = reshape(dense, per_row);
  if (is_one(shape[0])) return flat;
  if (proves_equal(shape[0], partition.rows) == false) refuse(call, "a dense operand has another number of rows", rule);
  per_row[0] = partition.rows;
  return take(reshape(flat, per_row), row_ids(ragged));
}

std::vector<Tensor> on_values(const RaggedCall& call) {
  const std::shared_ptr<const Partition> partition = common_partition(call);
  const auto longest = std::ranges::max_element(call.inputs, {}, [](const Tensor& x) { return as_ragged(x) != nullptr ? x.rank() : -1; });
  std::vector<Tensor> operands;
  for (const Tensor& input : call.inputs) {
    const RaggedTensor* ragged = as_ragged(input);
    if (ragged != nullptr && input.rank() != longest->rank()) refuse(call, "ragged operands differ in rank", "ragged operands of one rank");
    operands.push_back(ragged != nullptr ? ragged->values : beside_values(call, input, *longest));
  }
  std::vector<Tensor> results = bind_all(call.op, operands, call.attrs);
  for (Tensor& result : results) result = make_ragged(result, partition);
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

std::shared_ptr<const Partition> common_partition(const RaggedCall& call) {
  std::shared_ptr<const Partition> first;
  for (const Tensor& input : call.inputs) {
    const RaggedTensor* ragged = as_ragged(input);
    if (ragged == nullptr || ragged->partition == first) continue;
    if (first == nullptr) {
      first = ragged->partition;
      continue;
    }
    if (!first->is_concrete() || !ragged->partition->is_concrete()) {
      throw TraceError(
          fmt::format("{}: rows that are not known to be equal inside a traced function: {}; expected tensors of one partition.",
                      called_name(call.op), describe_inputs(call)));
    }
    if (!have_equal_splits(*first, *ragged->partition)) refuse(call, "rows differ in length", "ragged operands with equal rows");
  }
  return first;
}

std::vector<Tensor> bind_ragged(const RaggedCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) require_operand(called_name(call.op), i, call.inputs[i]);
  switch (call.op.ragged) {
    case RaggedPolicy::Values: return on_values(call);
    case RaggedPolicy::PerRow:
      if (call.op.ragged_rule != nullptr) return call.op.ragged_rule(call);
      break;
    case RaggedPolicy::Refuse: break;
  }
  refuse_ragged(call);
}

}  // namespace anyshape
