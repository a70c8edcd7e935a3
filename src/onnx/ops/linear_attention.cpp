// ONNX's layers of models without scores between all positions: linear attention, one scan over time, and the short convolution before it.
#include "onnx/rule.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

// [batch, time, heads * depth] -> [time, batch, heads, depth]
Tensor by_time(const Tensor& x, int64_t heads) {
  const Shape shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {1, 0, 2, 3});
}

// A state [batch, heads, key depth, value depth] is faded, corrected and added to at every step, and read by the queries.
Results linear_attention_rule(NodeCall& call) {
  const int64_t query_heads = call.integer("q_num_heads"), heads = call.integer("kv_num_heads");
  if (heads < 1 || query_heads < 1 || query_heads % heads != 0) call.fail(fmt::format("{} heads of queries for {} of keys", query_heads, heads), "a multiple");
  for (size_t input = 0; input < 3; ++input) {
    if (call.rank(input) != 3) call.fail(fmt::format("input {} has rank {}", input, call.rank(input)), "[batch, time, heads * depth]");
  }
  const std::string rule = call.text("update_rule", "gated_delta");
  const bool fades = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!fades && !corrects && rule != "linear") call.fail(fmt::format("update_rule is \"{}\"", rule), "linear, gated, delta or gated_delta");
  const Dtype dtype = call.dtype(0), computed = dtype == f64 ? f64 : f32;
  const Tensor query = cast(call.tensor(0), computed);
  const Dim batch = query.shape()[0], length = query.shape()[1], depth = query.shape()[2] / query_heads, width = call.shape(2)[2] / heads;
  std::vector<Tensor> sequences{by_time(query, query_heads), by_time(cast(call.tensor(1), computed), heads), by_time(cast(call.tensor(2), computed), heads)};
  // Per head or per element of a key: both are [time, batch, heads, depth or 1].
  if (fades) sequences.push_back(exp(by_time(cast(call.tensor(4), computed), heads)));
  if (corrects) sequences.push_back(by_time(cast(call.tensor(5), computed), call.shape(5)[2] == 1 ? 1 : heads));
  const double given = call.number("scale", 0);
  const Tensor scale = given != 0 ? full({}, given, {.dtype = computed}) : rsqrt(cast(Value::size(depth).tensor(), computed));
  const Tensor initial = call.has(3) ? cast(call.tensor(3), computed) : zeros({batch, heads, depth, width}, {.dtype = computed});
  auto [last, outputs] = scan(
      [&](const Tensor& before, const std::vector<Tensor>& step) {
        const Tensor key = expand_dims(step[1], -1);  // [batch, heads, depth, 1]
        Tensor state = fades ? before * expand_dims(step[3], -1) : before, value = expand_dims(step[2], 2);  // [batch, heads, 1, width]
        if (corrects) value = expand_dims(step.back(), -1) * (value - sum(state * key, {.axis = 2, .keep_dims = true}));
        state = state + key * value;
        // Each state is read by the queries of its group.
        const Tensor read = reshape(step[0], {batch, heads, query_heads / heads, depth});
        return std::pair(state, reshape(scale * matmul(read, state), {batch, query_heads * width}));
      },
      initial, sequences);
  return {cast(transpose(outputs, {1, 0, 2}), dtype), cast(last, call.has(3) ? call.dtype(3) : dtype)};
}

// Each channel for itself, over what stood before; the last elements are the state of the next call.
Results causal_convolution_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), weight = call.tensor(1);
  if (x.rank() != 3 || weight.rank() != 3) call.fail("inputs of other ranks", "[batch, channels, length] and [channels, 1, kernel]");
  const std::string activation = call.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") call.fail(fmt::format("activation is \"{}\"", activation), "none, silu or swish");
  const int64_t size = weight.shape()[2].specialize();
  if (size < 1 || size > 256) call.unsupported(fmt::format("a kernel of {}", size));
  const Dim length = x.shape()[2];
  const Tensor padded = call.has(3) ? concat({call.tensor(3), x}, 2) : pad(x, {{}, {}, {size - 1, 0}});
  const Dtype computed = x.dtype() == f64 ? f64 : f32;
  Tensor total;
  for (int64_t place = 0; place < size; ++place) {
    const Tensor part = cast(slice(padded, {{}, {}, {.begin = place, .end = length + place}}), computed) * cast(weight.at(whole, whole, place), computed);
    total = total.defined() ? total + part : part;
  }
  if (call.has(2)) total = total + cast(expand_dims(call.tensor(2), 1), computed);
  total = cast(total, x.dtype());
  if (activation != "none") total = silu(total);
  return {total, slice(padded, {{}, {}, {.begin = length, .end = length + (size - 1)}})};
}

constexpr RuleEntry entries[] = {{"LinearAttention", 27, linear_attention_rule}, {"CausalConvWithState", 27, causal_convolution_rule}};

}  // namespace

const RuleTable linear_attention_rules = entries;

}  // namespace anyshape::onnx
