// Tensors from and to files and foreign memory.
#pragma once
#include <anyshape/tensor.h>

#include <memory>
#include <string>
#include <utility>

#pragma GCC visibility push(default)
namespace anyshape {

/// NumPy's .npy files: versions 1 to 3, C and Fortran order, little endian; dtypes b8, u8, i32, i64, f16, f32, f64. A file that is damaged,
/// cut short, or holds something else is a FormatError.
Tensor load_npy(const std::string& path);
/// Whole or not at all: what stood at `path` stays until the new file is complete.
void save_npy(const std::string& path, const Tensor& tensor);

/// A tensor over memory that exists already, row-major. Nothing may write to the memory while the tensor, or one that shares it, lives.
struct MemoryOptions {
  /// Bytes that may be read from `data` on. Kernels load whole vectors, up to 512 bytes past the last element: with that much room the memory
  /// is used in place, with less (the default: just the elements) it is copied.
  int64_t capacity = 0;
  std::shared_ptr<void> owner = nullptr;  ///< kept as long as the memory is in use; none: the caller keeps it
};
/// The elements at `data`: in place where there is room behind them, else a copy.
///@{
Tensor from_memory(const void* data, Dtype dtype, const Shape& shape, MemoryOptions options = {});
template <class T>
Tensor from_memory(const T* data, const Shape& shape, MemoryOptions options = {}) {
  return from_memory(static_cast<const void*>(data), dtype_of<T>, shape, std::move(options));
}
///@}

/// The same in place without saying what stands behind the elements: wherever the page that the last one lies on goes on for 512 bytes, which
/// are read and never used; one array in eight ends nearer to its page's end and is copied. `owner` keeps the memory, and ends with the last
/// tensor that uses it; a deleter is an owner, too: std::shared_ptr<void>(memory, std::free). For the way out, see Tensor::data and <anyshape/dlpack.h>.
///@{
Tensor borrow(const void* data, Dtype dtype, const Shape& shape, std::shared_ptr<void> owner);
template <class T>
Tensor borrow(const T* data, const Shape& shape, std::shared_ptr<void> owner) {
  return borrow(static_cast<const void*>(data), dtype_of<T>, shape, std::move(owner));
}
///@}

}  // namespace anyshape
#pragma GCC visibility pop
