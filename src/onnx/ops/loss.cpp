// ONNX's ops of the family "loss".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable loss_rules = {};

}  // namespace anyshape::onnx
