// Packed scans: the active part of the batch shrinks from step to step, and nothing is computed for rows that have ended.
#include "ops/control/scan.h"
#include "shape/dim_node.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

void require_rows(const Tensor& tensor, std::string_view what, size_t i) {
  if (!tensor.defined()) throw ArgumentError(fmt::format("scan: {} {} is an empty tensor handle; expected a tensor.", what, i));
  if (tensor.rank() == 0) throw ShapeError(fmt::format("scan: {} {} is {}; expected an axis of rows.", what, i, describe(tensor)));
}

void require_counts_kind(const Tensor& counts) {
  if (!counts.defined()) throw ArgumentError("scan: the numbers of rows are an empty tensor handle; expected integers [steps].");
  if (counts.rank() == 1 && is_integer(counts.dtype())) return;
  throw ShapeError(fmt::format("scan: the numbers of rows are {}; expected integers [steps].", describe(counts)));
}

// Every value that the body gives begins with the active rows, so that its offset among the packed ones is known.
void require_active(const FunctionResults& step, const Dim& active) {
  for (size_t i = 0; i < step.tensors.size(); ++i) {
    const Tensor& each = step.tensors[i];
    if (each.defined() && each.rank() > 0 && each.shape()[0].same_as(active)) continue;
    throw ShapeError(fmt::format("scan: value {} of a packed step is {}; expected the active rows ({}) as its first axis.", i,
                                 each.defined() ? describe(each) : "an empty tensor handle", to_string(active)));
  }
}

}  // namespace

FunctionResults scan_packed(const Tensor& counts, const std::vector<Tensor>& initial, const std::vector<Tensor>& sequences,
                            const ScanBody& body) {
  require_counts_kind(counts);
  if (initial.empty() || sequences.empty())
    throw ArgumentError("scan: a packed scan has no carry or no sequence; expected at least one of both.");
  for (size_t i = 0; i < initial.size(); ++i) require_rows(initial[i], "carry", i);
  for (size_t i = 0; i < sequences.size(); ++i) require_rows(sequences[i], "sequence", i);
  const bool is_traced = current_trace_scope() != nullptr;
  const ScanPlan plan{.length = counts.shape()[0],
                      .reverse = false,
                      .counts = cast(counts, Dtype::i64),
                      .active = is_traced ? make_data_symbol("active") : Dim(0),
                      .rows = initial[0].shape()[0],
                      .total = sequences[0].shape()[0],
                      .by_rows = std::vector<bool>(initial.size() + sequences.size(), true)};
  const ScanBody by_rows = [&](std::span<const Tensor> carried, std::span<const Tensor> slices) {
    FunctionResults step = body(carried, slices);
    require_active(step, carried[0].shape()[0]);
    return step;
  };
  return is_traced ? trace_scan(by_rows, initial, sequences, plan) : scan_eagerly(by_rows, initial, sequences, plan);
}

}  // namespace anyshape
