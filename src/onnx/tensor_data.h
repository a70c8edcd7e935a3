// The elements of a tensor in a file, or beside it.
#pragma once
#include "onnx/proto.h"

#include <anyshape/tensor.h>

#include <filesystem>
#include <string>

namespace anyshape::onnx {

// FormatError "onnx: "file": tensor "w" ..." for elements that are not there, of another number than the shape says, or of a type without a dtype.
// Files of their own are looked for in `folder` and nowhere else.
Tensor to_tensor(const TensorProto& proto, const std::string& file, const std::filesystem::path& folder);

}  // namespace anyshape::onnx
