// Ops that change nothing: a shape or a dtype that stays as it is, all of a tensor taken, nothing put around it. Gradients and layers ask for
// them before they can know.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "ops/movement/pad.h"
#include "ops/movement/slice.h"
#include "ops/movement/transpose.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>

namespace anyshape::passes {
namespace {

const Switch pass_switch("drop_identities", "ops that change nothing are left out");

using graph::Node;
using graph::Value;

// A strided argument is no result: those are row-major.
Value* input_if(const Node& node, bool is_same) {
  return is_same && node.inputs[0]->strides.empty() && node.outputs[0]->spec.shape.same_as(node.inputs[0]->spec.shape) ? node.inputs[0]
                                                                                                                       : nullptr;
}

bool begins_at_zero(const std::vector<Dim>& begins, const std::vector<int64_t>& steps) {
  return std::ranges::all_of(begins, [](const Dim& begin) { return begin.same_as(0); }) &&
         std::ranges::all_of(steps, [](int64_t step) { return step == 1; });
}

Value* drop_shaping(Rewriting&, const Node& node) {
  return input_if(node, node.op->is_alias || node.op == &sum_to_op || node.op == &broadcast_to_op);
}

Value* drop_stop_gradient(Rewriting&, const Node& node) { return input_if(node, node.op == &stop_gradient_op); }

Value* drop_cast(Rewriting&, const Node& node) {
  return input_if(node, node.op == &cast_op && node.inputs[0]->spec.dtype == node.outputs[0]->spec.dtype);
}

Value* drop_transpose(Rewriting&, const Node& node) {
  return input_if(node, node.op == &transpose_op && std::ranges::is_sorted(node.attrs.as<TransposeAttrs>().permutation));
}

Value* drop_slice(Rewriting&, const Node& node) {
  if (node.op != &slice_op) return nullptr;
  const SliceAttrs& attrs = node.attrs.as<SliceAttrs>();
  return input_if(node, begins_at_zero(attrs.begins, attrs.steps));
}

Value* drop_pad(Rewriting&, const Node& node) {
  if (node.op != &pad_op) return nullptr;
  const PadAttrs& attrs = node.attrs.as<PadAttrs>();
  return input_if(node, begins_at_zero(attrs.begins, attrs.steps));
}

Value* drop_concat(Rewriting&, const Node& node) { return input_if(node, node.op == &concat_op && node.inputs.size() == 1); }

}  // namespace

void drop_identities(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"the shape stays as it is", drop_shaping},
      {"gradients have been taken", drop_stop_gradient},
      {"the dtype stays as it is", drop_cast},
      {"the axes stay in order", drop_transpose},
      {"all of it is taken", drop_slice},
      {"nothing is put around it", drop_pad},
      {"one tensor alone follows no other", drop_concat},
  };
  rewrite("drop_identities", graph, rules, decisions);
}

}  // namespace anyshape::passes
