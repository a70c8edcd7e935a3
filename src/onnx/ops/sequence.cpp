// ONNX's ops of the family "sequence".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable sequence_rules = {};

}  // namespace anyshape::onnx
