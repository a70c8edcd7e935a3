// ONNX's ops of the family "attention".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable attention_rules = {};

}  // namespace anyshape::onnx
