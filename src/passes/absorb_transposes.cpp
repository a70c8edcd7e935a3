// A transpose of matrices beside a product is a flag of the product: nothing is moved. After it, (a b)^T is b^T a^T. The library may add up the
// terms of an element in another order then, as it may for any layout.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/movement/transpose.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

namespace anyshape::passes {
namespace {

const Switch pass_switch("absorb_transposes", "transposes are flags of the products beside them");

using graph::Node;
using graph::Value;

// Of the last two axes, and of no other.
bool transposes_matrices(const Value* value) {
  if (!is_made_by(value, transpose_op)) return false;
  const std::vector<int64_t>& permutation = value->node->attrs.as<TransposeAttrs>().permutation;
  const size_t rank = permutation.size();
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    if (permutation[axis] != static_cast<int64_t>(axis)) return false;
  }
  return rank >= 2 && permutation[rank - 1] == static_cast<int64_t>(rank) - 2;
}

Value* read_transposed(Rewriting& at, const Node& node) {
  if (node.op != &matmul_op) return nullptr;
  graph::ValueList inputs = node.inputs;
  MatmulAttrs attrs = node.attrs.as<MatmulAttrs>();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!transposes_matrices(inputs[k])) continue;
    inputs[k] = inputs[k]->node->inputs[0];
    bool& flag = k == 0 ? attrs.transpose_a : attrs.transpose_b;
    flag = !flag;
  }
  return inputs == node.inputs ? nullptr : at.add(matmul_op, std::move(inputs), attrs, node.outputs[0]->spec);
}

Value* swap_operands(Rewriting& at, const Node& node) {
  if (!transposes_matrices(node.outputs[0]) || !is_made_by(node.inputs[0], matmul_op) || at.users(node.inputs[0]) != 1) return nullptr;
  const Node& product = *node.inputs[0]->node;
  const MatmulAttrs& attrs = product.attrs.as<MatmulAttrs>();
  return at.add(matmul_op, {product.inputs[1], product.inputs[0]}, MatmulAttrs{!attrs.transpose_b, !attrs.transpose_a},
                node.outputs[0]->spec);
}

}  // namespace

void absorb_transposes(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"the product reads it as it stands", read_transposed},
      {"the product writes it as it is wanted", swap_operands},
  };
  rewrite("absorb_transposes", graph, rules, decisions);
}

}  // namespace anyshape::passes
