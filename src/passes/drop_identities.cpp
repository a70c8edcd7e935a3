// Ops that only change a shape, where it stays as it is. Gradients ask for them before it is known.
#include "ops/all_ops.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <iterator>

namespace anyshape::passes {
namespace {

using graph::Node;
using graph::Value;

bool keeps_its_shape(const Node& node) {
  return node.inputs[0]->strides.empty() && node.outputs[0]->spec.shape.same_as(node.inputs[0]->spec.shape);
}

Value* drop_shaping(Rewriting&, const Node& node) {
  const OpDef* const shaping[] = {&sum_to_op, &broadcast_to_op, &reshape_op};
  return std::ranges::find(shaping, node.op) != std::end(shaping) && keeps_its_shape(node) ? node.inputs[0] : nullptr;
}

}  // namespace

void drop_identities(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {{"the shape stays as it is", drop_shaping}};
  rewrite("drop_identities", graph, rules, decisions);
}

}  // namespace anyshape::passes
