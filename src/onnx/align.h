// Element by element, images may stay channels last: what meets them is turned the same way.
#pragma once
#include "onnx/value.h"

#include <vector>

namespace anyshape::onnx {

// Where one of the values is held channels last, and the others broadcast with it axis by axis: all of them in that order, and true.
bool align_images(std::vector<Value>& values);

}  // namespace anyshape::onnx
