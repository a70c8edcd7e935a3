// ONNX's element types and the dtypes that hold them: int8 and the like, which the library has not, stand in a wider integer and know what they are.
#pragma once
#include "onnx/proto.h"

#include <anyshape/dtype.h>

#include <optional>
#include <string>
#include <utility>

namespace anyshape::onnx {

std::optional<Dtype> dtype_for(ElementType type);        // none: strings, complex numbers, floats of 8 bits and fewer
ElementType element_type_of(Dtype dtype);                // the type that the dtype is
std::string name_of(ElementType type);                   // "int8"
bool is_narrow(ElementType type);                        // held in a wider dtype
std::pair<int64_t, int64_t> range_of(ElementType type);  // the lowest and the highest integer

}  // namespace anyshape::onnx
