// Lists of tensors that are used again.
#include "base/spares.h"
#include "tensor/tensor_impl.h"

#include <anyshape/tensor_list.h>

namespace anyshape {

std::vector<Tensor> detail::take_tensor_list() { return Spares<std::vector<Tensor>>::take(); }
void detail::give_tensor_list(std::vector<Tensor>&& list) noexcept { Spares<std::vector<Tensor>>::give(std::move(list)); }

}  // namespace anyshape
