// ONNX's ops of the family "quantize".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable quantize_rules = {};

}  // namespace anyshape::onnx
