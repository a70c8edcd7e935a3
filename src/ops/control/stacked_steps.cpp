// Which ops can be stacked, and gradients that wait for the end of the loop.
#include "ops/control/stacked_steps.h"

#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/control/replay.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <ranges>

namespace anyshape {

bool runs_stacked(const graph::Node& node, const ScanAttrs& attrs, const std::function<bool(size_t input)>& invariant) {
  if (node.outputs.size() != 1) return false;
  const TensorSpec& output = node.outputs[0]->spec;
  const bool is_product = node.op == &matmul_op;
  if (is_product && (invariant(0) || !invariant(1) || node.attrs.as<MatmulAttrs>().transpose_a)) return false;
  if (is_product && node.inputs[1]->spec.shape.rank() != 2) return false;
  if (!is_product && node.op->kind != OpKind::Elementwise) return false;
  if (attrs.is_packed() && !attrs.goes_by_rows(output)) return false;
  const auto is_step = [&](size_t input) { return !invariant(input); };
  if (std::ranges::none_of(std::views::iota(size_t{0}, node.inputs.size()), is_step)) return false;
  // Steps become a first axis in front of all others, or more rows of the first one; what is the same in every step must not reach there.
  const int rank = output.shape.rank();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorSpec& input = node.inputs[i]->spec;
    if (is_product && i == 1) continue;
    if (!invariant(i) && (input.shape.rank() != rank || (attrs.is_packed() && !attrs.goes_by_rows(input)))) return false;
    if (invariant(i) && attrs.is_packed() && input.shape.rank() == rank && !input.shape[0].same_as(1)) return false;
  }
  return true;
}

bool LateGradients::is_captured(const graph::Value* value) const {
  return value->node == nullptr && value->index >= attrs_->carried + attrs_->sequences;
}

LateGradients::Operand LateGradients::find(const Tensor& inside) {
  const auto is_it = [&](const Tensor& other) { return other.impl() == inside.impl(); };
  if (const auto found = std::ranges::find_if(slices_, is_it); found != slices_.end())
    return {Operand::Kind::Sequence, static_cast<size_t>(found - slices_.begin())};
  auto found = std::ranges::find_if(stacked_, is_it);
  if (found == stacked_.end()) found = stacked_.insert(stacked_.end(), inside);
  return {Operand::Kind::Stacked, static_cast<size_t>(found - stacked_.begin())};
}

void LateGradients::take_over(const graph::Node& node, const GradientCall& call, std::span<bool> wanted) {
  const auto invariant = [&](size_t input) { return is_captured(node.inputs[input]); };
  if (!runs_stacked(node, *attrs_, invariant)) return;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i] || !invariant(i)) continue;
    wanted[i] = false;
    Late& late = late_.emplace_back(Late{&node, call.attrs, i, static_cast<size_t>(node.inputs[i]->index), {}, {}, {}});
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      const Operand as_given{Operand::Kind::Input, static_cast<size_t>(node.inputs[k]->index)};
      late.inputs.push_back(invariant(k) ? as_given : find(call.inputs[k]));
    }
    late.outputs.push_back(find(call.outputs[0]));
    late.dys.push_back(find(call.dys[0]));
  }
}

void LateGradients::add_to(std::vector<Tensor>& gradients, std::span<const Tensor> inputs, std::span<const Tensor> sequences,
                           std::span<const Tensor> stacked) const {
  for (const Late& late : late_) {
    const auto all_steps = [&](const std::vector<Operand>& operands) {
      std::vector<Tensor> tensors;
      for (const Operand& each : operands) {
        const std::span<const Tensor> from = each.kind == Operand::Kind::Input      ? inputs
                                             : each.kind == Operand::Kind::Sequence ? sequences
                                                                                    : stacked;
        tensors.push_back(from[each.number]);
      }
      return tensors;
    };
    const std::vector<Tensor> given = all_steps(late.inputs), outputs = all_steps(late.outputs), dys = all_steps(late.dys);
    Flags needed(given.size()), reached(1);
    needed[late.wanted] = reached[0] = true;
    const Tensor more = late.node->op->gradient({.inputs = given,
                                                 .outputs = outputs,
                                                 .dys = dys,
                                                 .attrs = late.attrs,
                                                 .needed = needed.span(),
                                                 .reached = reached.span()})[late.wanted];
    Tensor& sum = gradients[late.input];
    if (more.defined()) sum = sum + more;
  }
}

}  // namespace anyshape
