// Updates of a tensor where indices point. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// What becomes of an element that an update meets.
enum class ScatterMode : uint8_t { Set, Add, Multiply, Minimum, Maximum };
/// What scatter_update does with the elements that it meets.
struct ScatterUpdateOptions {
  ScatterMode mode = ScatterMode::Set;  ///< Set: of equal indices the last counts
};
/// x with each update where its index points: x [sizes...], indices [k..., components] name x's first axes, updates [k..., the other axes of
/// x...], which get x's dtype. Updates count in their order.
Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates, ScatterUpdateOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
