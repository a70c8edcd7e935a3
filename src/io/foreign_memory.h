// Tensors over memory of somebody else's.
#pragma once
#include "tensor/tensor_impl.h"

#include <memory>
#include <span>

namespace anyshape {

// Elements at `first`, as many bytes of memory around them as may be read, and who keeps them.
struct ForeignMemory {
  char* begin = nullptr;  // of the memory
  int64_t bytes = 0;      // from there to behind the last element
  int64_t capacity = 0;   // from there to where reading must end
  std::shared_ptr<void> owner;
};

// Whether kernels may read elements of this dtype there: they load whole vectors, past the last element.
bool is_usable_in_place(const ForeignMemory& memory, Dtype dtype);

// The capacity of memory about which nothing is known but its elements: to the end of the page that the last one lies on.
int64_t capacity_to_page_end(const void* begin, int64_t bytes);

// `offset` of the first element from the memory's begin, and strides, in elements.
Tensor view_of_foreign(ForeignMemory memory, Dtype dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset);

}  // namespace anyshape
