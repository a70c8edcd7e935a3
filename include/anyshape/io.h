// Tensors from and to files and foreign memory.
#pragma once
#include <anyshape/tensor.h>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// NumPy's .npy files: versions 1 to 3, C and Fortran order, little endian; dtypes b8, u8, i32, i64, f16, f32, f64. A file that is damaged,
/// cut short, or holds something else is a FormatError.
Tensor load_npy(const std::string& path);
/// Whole or not at all: what stood at `path` stays until the new file is complete.
void save_npy(const std::string& path, const Tensor& tensor);

/// Tensors by name, in an order: {{"x", x}, {"y", y}}, or what a map holds.
class NamedTensors {
 public:
  using Entry = std::pair<std::string, Tensor>;  ///< a name and its tensor
  NamedTensors(std::initializer_list<Entry> entries) : entries_(entries) {}
  NamedTensors(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  NamedTensors(const std::map<std::string, Tensor>& tensors) : entries_(tensors.begin(), tensors.end()) {}
  const std::vector<Entry>& entries() const { return entries_; }  ///< in the order in which they were given

 private:
  std::vector<Entry> entries_;
};
/// What stands beside the tensors.
struct SaveTensorsOptions {
  std::map<std::string, std::string> metadata = {};  ///< texts by name; "anyshape.ragged" is the library's own
};
/// What load_tensors() finds.
struct StoredTensors {
  std::map<std::string, Tensor> tensors;                    ///< by name
  std::map<std::string, std::string> metadata = {};         ///< the texts beside them
  const Tensor& operator[](const std::string& name) const;  ///< ArgumentError for a name that is not there, with the near ones
};
/// A safetensors file, which other programs read, too. Whole or not at all: what stood at `file` stays until the new one is complete. A ragged
/// tensor x is kept as "x.values" and "x.splits". ArgumentError for two tensors of one name, and for names or texts that are no UTF-8.
void save_tensors(const std::filesystem::path& file, const NamedTensors& tensors, const SaveTensorsOptions& options = {});
/// The tensors of any safetensors file whose dtypes the library has. FormatError for a file that is damaged, cut short, or something else. The
/// elements are read once, into the tensors' memory: a file that another program shortens later takes nothing from them.
StoredTensors load_tensors(const std::filesystem::path& file);

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
