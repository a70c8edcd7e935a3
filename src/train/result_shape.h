// What a user's loss or metric may return: one number, or values in the rows and positions of the prediction.
#pragma once
#include "train/operands.h"

#include <string_view>

namespace anyshape::train {

// ShapeError with all three shapes where the result has others; what only a call can tell becomes a check.
Tensor require_result_shape(std::string_view name, const Operands& given, const Tensor& result);

}  // namespace anyshape::train
