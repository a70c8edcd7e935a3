// ONNX's ops of the family "recurrent".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable recurrent_rules = {};

}  // namespace anyshape::onnx
