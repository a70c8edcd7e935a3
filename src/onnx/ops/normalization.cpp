// ONNX's ops of the family "normalization".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable normalization_rules = {};

}  // namespace anyshape::onnx
