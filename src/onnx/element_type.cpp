// The table of element types.
#include "onnx/element_type.h"

#include <fmt/format.h>

#include <limits>

namespace anyshape::onnx {

std::optional<Dtype> dtype_for(ElementType type) {
  switch (type) {
    case ElementType::Float: return Dtype::f32;
    case ElementType::Uint8:
    case ElementType::Uint4: return Dtype::u8;
    case ElementType::Int4:
    case ElementType::Int8:
    case ElementType::Uint16:
    case ElementType::Int16:
    case ElementType::Int32: return Dtype::i32;
    case ElementType::Uint32:
    case ElementType::Uint64:
    case ElementType::Int64: return Dtype::i64;
    case ElementType::Bool: return Dtype::b8;
    case ElementType::Float16: return Dtype::f16;
    case ElementType::Bfloat16: return Dtype::bf16;
    case ElementType::Double: return Dtype::f64;
    default: return std::nullopt;
  }
}

ElementType element_type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::b8: return ElementType::Bool;
    case Dtype::u8: return ElementType::Uint8;
    case Dtype::i32: return ElementType::Int32;
    case Dtype::i64: return ElementType::Int64;
    case Dtype::f16: return ElementType::Float16;
    case Dtype::bf16: return ElementType::Bfloat16;
    case Dtype::f32: return ElementType::Float;
    case Dtype::f64: return ElementType::Double;
  }
  return ElementType::Undefined;
}

std::string name_of(ElementType type) {
  static constexpr const char* names[] = {"undefined", "float",  "uint8",   "int8",   "uint16", "int16",  "int32",     "int64",
                                          "string",    "bool",   "float16", "double", "uint32", "uint64", "complex64", "complex128",
                                          "bfloat16",  "float8", "float8",  "float8", "float8", "uint4",  "int4",      "float4",
                                          "float8",    "uint2",  "int2",    "float6", "float6"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : fmt::format("element type {}", static_cast<int64_t>(type));
}

bool is_narrow(ElementType type) {
  const std::optional<Dtype> dtype = dtype_for(type);
  return dtype.has_value() && element_type_of(*dtype) != type;
}

std::pair<int64_t, int64_t> range_of(ElementType type) {
  switch (type) {
    case ElementType::Bool: return {0, 1};
    case ElementType::Uint4: return {0, 15};
    case ElementType::Int4: return {-8, 7};
    case ElementType::Uint8: return {0, 255};
    case ElementType::Int8: return {-128, 127};
    case ElementType::Uint16: return {0, 65535};
    case ElementType::Int16: return {-32768, 32767};
    case ElementType::Int32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case ElementType::Uint32: return {0, std::numeric_limits<uint32_t>::max()};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

}  // namespace anyshape::onnx
