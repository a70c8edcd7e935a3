// Ops that put elements elsewhere. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <optional>
#include <vector>

namespace [[gnu::visibility("default")]] anyshape {

// Movement. In `reshape` one size may be -1: what is left.
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor transpose(const Tensor& x, const std::vector<int64_t>& permutation = {});  // none: axes reversed
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor sum_to(const Tensor& x, const Shape& shape);  // the reverse of broadcast_to: sums what was repeated
struct SliceRange {
  Dim begin = 0;
  std::optional<Dim> end = std::nullopt;  // none: to the end
};
Tensor slice(const Tensor& x, const std::vector<SliceRange>& ranges);  // one range per leading axis; negative bounds count from the end
struct ConcatOptions {
  int64_t axis = 0;
};
Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options = {});

}  // namespace anyshape
