// ONNX's ops of the family "index".
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {

const RuleTable index_rules = {};

}  // namespace anyshape::onnx
