// What ragged rules share.
#include "ops/ragged/rules.h"

#include <fmt/format.h>

namespace anyshape {

int padded_axis(const RaggedCall& call, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    refuse(call, fmt::format("axis {} is outside the rank {}", axis, rank), fmt::format("{} <= axis < {}", -rank, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool is_ragged_axis(const Tensor& x, int64_t axis) { return x.is_ragged() && (axis == 1 || axis + x.rank() == 1); }

void refuse_rows(const NamedCall& call, std::string_view what) {
  call.fail(what, "an axis behind the ragged one. Use to_padded(x) for the rows as a dense tensor, or x.values() for their elements");
}

int values_axis(const NamedCall& call, int axis) {
  if (axis < 2) refuse_rows(call, fmt::format("axis {} is {}", axis, axis == 0 ? "that of the rows" : "the ragged one"));
  return axis - 1;
}

std::vector<Tensor> parts_of_values(const Tensor& x, const std::function<std::vector<Tensor>(const Tensor& values)>& body) {
  const RaggedTensor& ragged = *as_ragged(x);
  std::vector<Tensor> parts = body(ragged.values);
  for (Tensor& part : parts) part = make_ragged(part, ragged.partition);
  return parts;
}

Tensor on_values(const Tensor& x, const std::function<Tensor(const Tensor& values)>& body) {
  const RaggedTensor& ragged = *as_ragged(x);
  return make_ragged(body(ragged.values), ragged.partition);
}

}  // namespace anyshape
