// DLPack: host tensors to and from other libraries without a copy. The structs are those of DLPack's C interface, in a namespace of ours so
// that a program may include DLPack's own header, too: reinterpret_cast<as::dlpack::ManagedTensor*>(theirs).
#pragma once
#include <anyshape/tensor.h>

#include <cstdint>

#pragma GCC visibility push(default)
namespace anyshape {

namespace dlpack {

inline constexpr int32_t cpu = 1;  ///< Device::type; the only one that is taken

/// DLDataTypeCode, those that are taken.
enum class TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Bool = 6 };

/// DLDevice.
struct Device {
  int32_t type = cpu;
  int32_t id = 0;
};
/// DLDataType: `code` is a TypeCode, `lanes` is 1.
struct DataType {
  uint8_t code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 1;
};
/// DLTensor.
struct TensorView {
  void* data = nullptr;
  Device device = {};
  int32_t rank = 0;
  DataType dtype = {};
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  ///< in elements; null: row-major
  uint64_t byte_offset = 0;
};
/// DLManagedTensor.
struct ManagedTensor {
  TensorView tensor = {};
  void* context = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;  ///< frees it all; null: nothing to free
};

/// DLPackVersion.
struct Version {
  uint32_t major = 1;
  uint32_t minor = 0;
};
inline constexpr uint64_t read_only = 1;  ///< a flag
/// DLManagedTensorVersioned, since version 1.0.
struct VersionedTensor {
  Version version = {};
  void* context = nullptr;
  void (*deleter)(VersionedTensor* self) = nullptr;  ///< as in ManagedTensor
  uint64_t flags = 0;
  TensorView tensor = {};
};

}  // namespace dlpack

/// The tensor's memory for somebody else, who calls the deleter once when done; views go as they are. Nothing may write to it, which only the
/// second form can say (its flag is read_only). ShapeError for a ragged tensor, TraceError inside a trace.
///@{
dlpack::ManagedTensor* to_dlpack(const Tensor& tensor);
dlpack::VersionedTensor* to_versioned_dlpack(const Tensor& tensor);
///@}

/// A tensor over somebody else's memory, which must not be written to any more. The deleter is called once, when the last tensor that uses the
/// memory is gone. Memory that cannot be used in place (borrow in io.h says when) is copied, and the deleter called at once. ArgumentError for
/// null pointers, other devices than the CPU and versions other than 1; DtypeError, ShapeError: then the deleter has not been called.
///@{
Tensor from_dlpack(dlpack::ManagedTensor* managed);
Tensor from_dlpack(dlpack::VersionedTensor* managed);
///@}

}  // namespace anyshape
#pragma GCC visibility pop
