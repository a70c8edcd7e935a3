// Ops of ONNX Runtime that its optimizer and exporters write into files: functions with their bias, products with their factor, attention of
// many heads.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr std::string_view microsoft = "com.microsoft";

Tensor with_bias(NodeCall& call, size_t input) { return call.has(input) ? call.tensor(0) + call.tensor(input) : call.tensor(0); }

Results bias_gelu_rule(NodeCall& call) { return gelu(with_bias(call, 1)); }
Results fast_gelu_rule(NodeCall& call) { return gelu(with_bias(call, 1), {.approximate = true}); }

Results fused_matmul_rule(NodeCall& call) {
  if (call.flag("transBatchA") || call.flag("transBatchB")) call.unsupported("a product of transposed batches");
  const Tensor product = matmul(call.tensor(0), call.tensor(1), {.transpose_a = call.flag("transA"), .transpose_b = call.flag("transB")});
  const double alpha = call.number("alpha", 1);
  return alpha == 1 ? product : product * alpha;
}

// [batch, sequence, heads * depth], with its third of the bias -> [batch, heads, sequence, depth]
Tensor heads_of(NodeCall& call, size_t input, int64_t heads) {
  Tensor x = call.tensor(input);
  if (x.rank() == 4) return x;  // keys and values that stand so already
  if (x.rank() != 3) call.unsupported(fmt::format("an input of rank {}", x.rank()));
  if (call.has(3)) {
    const Dim width = call.shape(0)[2], begin = input == 0 ? Dim(0) : width * static_cast<int64_t>(input);
    x = x + slice(call.tensor(3), {{.begin = begin, .end = begin + x.shape()[2]}});
  }
  const Shape shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Results multi_head_attention_rule(NodeCall& call) {
  const int64_t heads = call.integer("num_heads");
  if (heads < 1) call.fail(fmt::format("num_heads is {}", heads), "at least 1");
  if (!call.has(1) || !call.has(2)) call.unsupported("packed queries, keys and values");
  if (call.has(4)) call.unsupported("a mask of keys");
  if (call.flag("unidirectional")) call.unsupported("unidirectional attention");
  if (call.inputs() > 8) call.unsupported("a cache with a length of its own");
  const Tensor query = heads_of(call, 0, heads);
  Tensor key = heads_of(call, 1, heads), value = heads_of(call, 2, heads);
  if (call.has(6) && call.has(7)) {
    key = concat({call.tensor(6), key}, 2);
    value = concat({call.tensor(7), value}, 2);
  }
  const double given = call.number("scale", 0);
  const Tensor scale =
      given != 0 ? full({}, given, {.dtype = query.dtype()}) : rsqrt(cast(Value::size(query.shape()[3]).tensor(), query.dtype()));
  Tensor scores = matmul(query, key, {.transpose_b = true}) * scale;
  if (call.has(5)) scores = scores + call.tensor(5);
  const Tensor result = transpose(matmul(softmax(scores), value), {0, 2, 1, 3});
  const Shape shape = result.shape();
  return {reshape(result, {shape[0], shape[1], shape[2] * shape[3]}), key, value};
}

constexpr RuleEntry entries[] = {
    {"BiasGelu", 1, bias_gelu_rule, {}, microsoft},
    {"FastGelu", 1, fast_gelu_rule, {}, microsoft},
    {"FusedMatMul", 1, fused_matmul_rule, {}, microsoft},
    {"MultiHeadAttention", 1, multi_head_attention_rule, {}, microsoft},
};

}  // namespace

const RuleTable runtime_rules = entries;

}  // namespace anyshape::onnx
