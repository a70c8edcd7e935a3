// ONNX's ops of the family "reduce".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable reduce_rules = {};

}  // namespace anyshape::onnx
