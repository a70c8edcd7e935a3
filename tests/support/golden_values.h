// Golden tensors as tensors of the library, and back.
#pragma once
#include "support/golden.h"

#include <anyshape/tensor.h>

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace anyshape::test {

using support::GoldenTensor;

inline Tensor to_tensor(const GoldenTensor& golden) {
  const Shape shape{std::span<const int64_t>(golden.shape)};
  if (golden.dtype == "F32") return tensor(golden.values<float>(), shape);
  if (golden.dtype == "I32") return tensor(golden.values<int32_t>(), shape);
  if (golden.dtype == "I64") return tensor(golden.values<int64_t>(), shape);
  const std::vector<uint8_t> bytes = golden.values<uint8_t>();
  return tensor(std::vector<bool>(bytes.begin(), bytes.end()), shape);
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline GoldenTensor to_golden(const Tensor& tensor) {
  GoldenTensor golden;
  for (const Dim& size : tensor.shape()) golden.shape.push_back(size.value());
  switch (tensor.dtype()) {
    case Dtype::f32: golden.dtype = "F32", golden.bytes = bytes_of(tensor.to_vector<float>()); break;
    case Dtype::i32: golden.dtype = "I32", golden.bytes = bytes_of(tensor.to_vector<int32_t>()); break;
    case Dtype::i64: golden.dtype = "I64", golden.bytes = bytes_of(tensor.to_vector<int64_t>()); break;
    case Dtype::b8: {
      golden.dtype = "BOOL";
      for (const bool value : tensor.to_vector<bool>()) golden.bytes.push_back(std::byte{value});
      break;
    }
    default: throw std::runtime_error("golden: no dtype for " + std::string(to_string(tensor.dtype())));
  }
  return golden;
}

}  // namespace anyshape::test
