// ONNX's ops of the family "control".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable control_rules = {};

}  // namespace anyshape::onnx
