// The one way from a tensor to elements that the host reads or writes.
#pragma once
#include "tensor/tensor_impl.h"

namespace anyshape {

// Of a buffer on another device: where the host has it, or ArgumentError where it has not.
[[gnu::cold]] void* require_on_host(const Buffer& buffer);

// Where the first element of a strided tensor is. Of one on a device, once nothing that was begun uses its memory; ArgumentError where the host
// cannot read the device's memory.
inline char* host_data(const TensorImpl& tensor) {
  const Buffer& buffer = *tensor.buffer();
  void* const begin = buffer.device == host_device ? buffer.pointer : require_on_host(buffer);
  return static_cast<char*>(begin) + tensor.offset * size_of(tensor.dtype);
}
inline char* host_data(const Tensor& tensor) { return host_data(*tensor.impl()); }

template <class T>
T* host_data(const TensorImpl& tensor) {
  return reinterpret_cast<T*>(host_data(tensor));
}
template <class T>
T* host_data(const Tensor& tensor) {
  return host_data<T>(*tensor.impl());
}

}  // namespace anyshape
