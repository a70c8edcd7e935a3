// ONNX's ops of the family "signal".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable signal_rules = {};

}  // namespace anyshape::onnx
