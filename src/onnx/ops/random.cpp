// ONNX's ops of the family "random".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable random_rules = {};

}  // namespace anyshape::onnx
