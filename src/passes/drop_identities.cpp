// Ops that change nothing: a shape or a dtype that stays as it is, all of a tensor taken, nothing put around it. Gradients and layers ask for
// them before they can know.
#include "base/switches.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <vector>

namespace anyshape::passes {
namespace {

const Switch pass_switch("drop_identities", "ops that change nothing are left out");

using graph::Node;
using graph::Value;

// A strided argument is no result: those are row-major.
Value* drop(Rewriting&, const Node& node) {
  const auto is_identity = node.op->traits.is_identity;
  if (is_identity == nullptr || !node.inputs[0]->strides.empty() || !node.outputs[0]->spec.shape.same_as(node.inputs[0]->spec.shape))
    return nullptr;
  const std::vector<TensorSpec> specs = graph::input_specs(node);
  return is_identity(OpCall(*node.op, specs, node.attrs)) ? node.inputs[0] : nullptr;
}

}  // namespace

void drop_identities(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"it gives what it is given", drop},
  };
  rewrite("drop_identities", graph, rules, decisions);
}

}  // namespace anyshape::passes
