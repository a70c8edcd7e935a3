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

Tensor on_values(const Tensor& x, const std::function<Tensor(const Tensor& values)>& body) {
  const RaggedTensor& ragged = *as_ragged(x);
  return make_ragged(body(ragged.values), ragged.partition);
}

}  // namespace anyshape
