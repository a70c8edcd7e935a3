// Ops on literals are computed here, by the rule that would become machine code: the builder of loops folds what it is given, with the
// rounding and the flushing of denormals of a run, so every bit is what it would be. Literals are scalars; fills of them fold as scalars in
// simplify_shapes. Nothing is run, so nothing can fail, take long or be large; random numbers are no elementwise op.
#include "base/switches.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/source/size.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <cmath>

namespace anyshape::passes {
namespace {

const Switch pass_switch("fold_constants", "what literals make is computed once and for all");

using graph::Node;
using graph::Value;

// The op's view of its literals.
class LiteralCall final : public ElementCall {
 public:
  LiteralCall(loop::Builder& builder, const OpCall& call, const TensorSpec& output, const Node& node)
      : ElementCall(builder, call, output, {}), node_(node) {}

  loop::Value input(int k, std::span<const loop::Value>) override { return operand(k); }
  loop::Value operand(int k) override {
    const ConstantAttrs& attrs = node_.inputs[static_cast<size_t>(k)]->node->attrs.as<ConstantAttrs>();
    return is_floating(attrs.dtype) ? b.constant(attrs.dtype, attrs.number) : b.constant(attrs.dtype, attrs.integer);
  }
  loop::Value size(const Dim&) override { return unknown(); }
  loop::Value linear_index() override { return b.integer(0); }
  loop::Value random_key() override { return unknown(); }
  loop::Value random_counter() override { return unknown(); }

 private:
  loop::Value unknown() { return b.size("unknown"); }  // the result is no constant then

  const Node& node_;
};

Value* compute(Rewriting& at, const Node& node) {
  if (node.op->kind != OpKind::Elementwise || node.op->element == nullptr || node.inputs.empty()) return nullptr;
  if (!std::ranges::all_of(node.inputs, [](const Value* input) { return is_made_by(input, constant_op); })) return nullptr;
  const TensorSpec& spec = node.outputs[0]->spec;
  loop::Builder builder("literals");
  const std::vector<TensorSpec> inputs = graph::input_specs(node);
  const OpCall op_call(*node.op, inputs, node.attrs);
  LiteralCall call(builder, op_call, spec, node);
  const loop::Instruction* const result = builder.definition(builder.cast(node.op->element(call), spec.dtype));
  if (result == nullptr || result->op != loop::Op::Constant || std::isnan(result->number)) return nullptr;
  return at.add(constant_op, {}, ConstantAttrs{spec.dtype, result->number, result->integer}, spec);
}

Value* write_size(Rewriting& at, const Node& node) {
  if (node.op != &size_op || !node.attrs.as<SizeAttrs>().dim.is_constant()) return nullptr;
  const SizeAttrs& attrs = node.attrs.as<SizeAttrs>();
  loop::Builder builder("literals");
  const loop::Instruction* const result = builder.definition(builder.cast(builder.integer(attrs.dim.value()), attrs.dtype));
  return at.add(constant_op, {}, ConstantAttrs{attrs.dtype, result->number, result->integer}, node.outputs[0]->spec);
}

Value* take_scalar(Rewriting&, const Node& node) {
  return node.op == &full_op && node.outputs[0]->spec.shape.rank() == 0 ? node.inputs[0] : nullptr;
}

}  // namespace

void fold_constants(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"a scalar filled with a scalar", take_scalar},
      {"the size is a number", write_size},
      {"all operands are literals", compute},
  };
  rewrite("fold_constants", graph, rules, decisions);
}

}  // namespace anyshape::passes
