// ONNX's ops of the family "image".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable image_rules = {};

}  // namespace anyshape::onnx
