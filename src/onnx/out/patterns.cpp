// Ops that stand for one of ONNX's: runtimes have kernels for softmax and layer normalisation, and join convolutions with what scales and shifts their results.
// A pattern writes the one; what it stands for is left without use, and is dropped.
#include "onnx/out/exporter.h"
#include "onnx/out/rule.h"

#include <anyshape/ops.h>

#include <array>
#include <cmath>
#include <optional>

namespace anyshape::onnx::out {
namespace {

using graph::Value;
using Pair = std::array<const Value*, 2>;

std::optional<Pair> operands(const Value* value, std::string_view op) {
  if (!is_op(value, op)) return std::nullopt;
  return Pair{value->node->inputs[0], value->node->inputs[1]};
}

const Value* under(const Value* value, std::string_view op) { return is_op(value, op) ? value->node->inputs[0] : nullptr; }

// Of a reduction that keeps one axis as 1: which.
std::optional<int64_t> one_axis(const Value* value, std::string_view op) {
  if (!is_op(value, op)) return std::nullopt;
  const AttributeTable a(value->node->attrs);
  if (a.list("axes").size() != 1 || !a.flag("keep_dims")) return std::nullopt;
  return a.list("axes")[0];
}

// exp(x - max(x)) * (1 / sum(exp(x - max(x))))
bool write_softmax(NodeCall& c) {
  for (const size_t number : {0U, 1U}) {
    const Value *const powers = c.node.inputs[number], *const share = c.node.inputs[1 - number];
    const std::optional<Pair> fraction = operands(share, "divide");
    const Value* const less = under(powers, "exp");
    if (!fraction || less == nullptr || !is_number(c.e, (*fraction)[0], 1) || under((*fraction)[1], "sum") != powers) continue;
    const std::optional<Pair> difference = operands(less, "subtract");
    if (!difference) continue;
    const Value* const stopped = under((*difference)[1], "stop_gradient");
    const Value* const greatest = stopped == nullptr ? (*difference)[1] : stopped;
    const std::optional<int64_t> axis = one_axis((*fraction)[1], "sum");
    if (!axis || one_axis(greatest, "max") != axis || under(greatest, "max") != (*difference)[0]) continue;
    c.out_ours(0, c.add("Softmax", {c.e.ours((*difference)[0])}, {{"axis", *axis}}));
    return true;
  }
  return false;
}

// x - sum(x) / n along the last axis, and rsqrt(sum(its square) / n + epsilon).
struct Normalized {
  const Value* x = nullptr;
  double epsilon = 0;
};
// sum(x) / n, which for a power of 2 has become sum(x) * (1 / n).
const Value* mean_of(const Emitter& e, const Value* value) {
  const bool is_product = is_op(value, "multiply");
  const std::optional<Pair> pair = operands(value, is_product ? "multiply" : "divide");
  if (!pair) return nullptr;
  const bool is_turned = is_product && is_op((*pair)[1], "sum");
  const Value *const total = (*pair)[is_turned ? 1 : 0], *const count = (*pair)[is_turned ? 0 : 1];
  const Value* const x = under(total, "sum");
  if (x == nullptr || one_axis(total, "sum") != x->spec.shape.rank() - 1) return nullptr;
  const Dim& size = x->spec.shape[-1];
  if (is_op(count, "size") && !is_product) return AttributeTable(count->node->attrs).size("dim").same_as(size) ? x : nullptr;
  if (!size.is_constant() || size.value() == 0) return nullptr;
  const auto number = static_cast<double>(size.value());
  return is_number(e, count, is_product ? 1 / number : number) ? x : nullptr;
}
std::optional<Normalized> normalized(const Emitter& e, const Value* centred, const Value* root) {
  const std::optional<Pair> difference = operands(centred, "subtract");
  const Value* const inner = under(root, "rsqrt");
  if (!difference || inner == nullptr || mean_of(e, (*difference)[1]) != (*difference)[0]) return std::nullopt;
  const std::optional<Pair> sum = operands(inner, "add");
  if (!sum) return std::nullopt;
  for (const size_t number : {0U, 1U}) {
    const Value *const variance = (*sum)[number], *const epsilon = (*sum)[1 - number];
    const Tensor* const known = e.known(epsilon);
    const Value* const square = mean_of(e, variance);
    if (known == nullptr || !known->shape().count().same_as(1) || square == nullptr) continue;
    const std::optional<Pair> factors = operands(square, "multiply");
    if (factors && (*factors)[0] == centred && (*factors)[1] == centred) return Normalized{(*difference)[0], known->item<double>()};
  }
  return std::nullopt;
}

// Of the last axis: [n], or with sizes of 1 before it.
bool is_along_last(const Tensor* known, const Value* x) {
  return known != nullptr && x->spec.shape.rank() > 0 && known->shape().rank() == 1 && known->shape()[0].same_as(x->spec.shape[-1]);
}

// normalized * gamma + beta
bool write_layer_normalization(NodeCall& c) {
  const Dtype dtype = c.out_spec().dtype;
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return false;
  for (const size_t number : {0U, 1U}) {
    const Value *const scaled = c.node.inputs[number], *const beta = c.node.inputs[1 - number];
    const std::optional<Pair> factors = operands(scaled, "multiply");
    if (!factors) continue;
    for (const size_t which : {0U, 1U}) {
      const Value *const product = (*factors)[which], *const gamma = (*factors)[1 - which];
      const std::optional<Pair> pair = operands(product, "multiply");
      if (!pair) continue;
      std::optional<Normalized> found = normalized(c.e, (*pair)[0], (*pair)[1]);
      if (!found) found = normalized(c.e, (*pair)[1], (*pair)[0]);
      if (!found || !is_along_last(c.e.known(gamma), found->x) || !is_along_last(c.e.known(beta), found->x)) continue;
      c.out_ours(0, c.add("LayerNormalization", {c.e.ours(found->x), c.e.ours(gamma), c.e.ours(beta)},
                          {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(found->epsilon)}}));
      return true;
    }
  }
  return false;
}

// x >= most ? most : x <= least ? least : x
bool write_clip(NodeCall& c) {
  const std::optional<Pair> compared = operands(c.node.inputs[0], "less_equal");
  const Value* const inner = c.node.inputs[2];
  if (!compared || !is_op(inner, "where") || !is_floating(inner->spec.dtype) || inner->spec.dtype == Dtype::bf16) return false;
  const Value* const x = inner->node->inputs[2];
  const std::optional<Pair> lower = operands(inner->node->inputs[0], "less_equal");
  const Tensor *const most = c.e.known(c.node.inputs[1]), *const least = c.e.known(inner->node->inputs[1]);
  if (!lower || most == nullptr || least == nullptr || most->rank() != 0 || least->rank() != 0 ||
      !x->spec.shape.same_as(c.out_spec().shape))
    return false;
  const double high = most->item<double>(), low = least->item<double>();
  const bool is_clip =
      low <= high && (*compared)[1] == x && is_number(c.e, (*compared)[0], high) && (*lower)[0] == x && is_number(c.e, (*lower)[1], low);
  if (!is_clip) return false;
  const std::string operand = c.is_channels_second() ? c.e.channels_second(x) : c.e.ours(x);  // in the layout of the call
  c.out(c.add("Clip", {operand, c.e.number(x->spec.dtype, low), c.e.number(x->spec.dtype, high)}));
  return true;
}

// A choice between a number and what was compared with it: the greater or the lesser of both.
bool write_extreme(NodeCall& c) {
  const std::optional<Pair> compared = operands(c.node.inputs[0], "less_equal");
  const Value *const chosen = c.node.inputs[1], *const x = c.node.inputs[2];
  const Tensor* const known = c.e.known(chosen);
  if (!compared || known == nullptr || !known->shape().count().same_as(1) || known->shape().rank() != 0 || !is_floating(x->spec.dtype))
    return false;
  if (x->spec.dtype == Dtype::bf16 || !x->spec.shape.same_as(c.out_spec().shape)) return false;
  const double number = known->item<double>();
  const bool is_max = (*compared)[0] == x && is_number(c.e, (*compared)[1], number),
             is_min = (*compared)[1] == x && is_number(c.e, (*compared)[0], number);
  if (!is_max && !is_min) return false;
  const std::string operand = c.in(2), limit = c.e.number(x->spec.dtype, number);
  // In this order, so that what runtimes know as Relu and as Clip is said so.
  c.out(is_max && number == 0 ? c.add("Relu", {operand}) : is_max ? c.add("Clip", {operand, limit}) : c.add("Clip", {operand, "", limit}));
  return true;
}

}  // namespace

bool write_pattern(NodeCall& c) {
  const std::string_view op = c.node.op->name;
  if (op == "multiply") return write_softmax(c) || fold_into_convolution(c);
  if (op == "add") return write_layer_normalization(c) || fold_into_convolution(c);
  return op == "where" && (write_clip(c) || write_extreme(c));
}

}  // namespace anyshape::onnx::out
