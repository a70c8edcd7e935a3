// Lists of tensors on the way through a call, in memory that serves the thread's next call again.
#pragma once
#include <anyshape/tensor.h>

#include <vector>

#pragma GCC visibility push(default)
namespace anyshape::detail {

std::vector<Tensor> take_tensor_list();                      ///< empty
void give_tensor_list(std::vector<Tensor>&& list) noexcept;  ///< what it holds is let go

}  // namespace anyshape::detail
#pragma GCC visibility pop
