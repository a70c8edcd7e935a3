// attention: query, key, value -> result and the statistics of its queries; attention_gradient: those and dy -> the gradients of all three.
// Both over a dense batch and over rows of unequal length.
#include "ops/attention/attention.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/attention/rules.h"
#include "ops/ragged/rules.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

constexpr AttentionForm dense = AttentionForm::Dense, segments = AttentionForm::Segments;

template <AttentionForm form>
std::vector<Tensor> gradient(const GradientCall& call) {
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.begin() + 3);
  const Tensor &y = call.outputs[0], &dy = call.dys[0];
  inputs.insert(inputs.end(), {dy, call.outputs[1], sum(y * dy, {.axes = {-1}})});
  inputs.insert(inputs.end(), call.inputs.begin() + 3, call.inputs.end());
  std::vector<Tensor> gradients = bind_all(form == dense ? attention_gradient_op : segment_attention_gradient_op, inputs, call.attrs);
  gradients.resize(call.inputs.size());
  return gradients;
}

SplitsRule splits_of_keys(const OpCall& call) { return {.total = call.shape(1)[0]}; }

// A batch as rows of one length: [batch, time, ...] -> [batch * time, ...] and splits 0, time, 2 time, ...
struct Rows {
  Tensor values, splits;
};
Rows rows_of(const Tensor& x) {
  if (const RaggedTensor* ragged = as_ragged(x)) return {ragged->values, ragged->partition->splits};
  const Shape shape = x.shape();
  Shape joined = {shape[0] * shape[1]};
  for (int axis = 2; axis < shape.rank(); ++axis) joined.push_back(shape[axis]);
  return {reshape(x, joined), arange(shape[0] + 1, {.dtype = Dtype::i64}) * size(x, 1)};
}

std::vector<Tensor> ragged(const RaggedCall& call) {
  const Tensor query = call.inputs[0];
  constexpr std::string_view rule = "query [rows, (lengths), heads, depth], and key and value in rows of one length each or both ragged";
  for (const Tensor& operand : call.inputs.first(3)) {
    if (operand.rank() != 4) refuse(call, fmt::format("an operand has rank {}", operand.rank()), rule);
  }
  if (call.inputs[1].is_ragged() != call.inputs[2].is_ragged()) refuse(call, "of key and value one is ragged", rule);
  for (const Tensor& other : call.inputs.subspan(3)) {
    if (other.is_ragged()) refuse(call, "the mask is ragged", "a dense mask of the padded view");
  }
  const CommonRows pair = common_rows({call.op, call.inputs.subspan(1, 2), call.attrs});
  const Rows queries = rows_of(query), keys = rows_of(pair.operands[0]), values = rows_of(pair.operands[1]);
  std::vector<Tensor> inputs = {queries.values, keys.values, values.values};
  inputs.insert(inputs.end(), call.inputs.begin() + 3, call.inputs.end());
  inputs.insert(inputs.end(), {queries.splits, keys.splits});
  std::vector<Tensor> results = bind_all(segment_attention_op, inputs, call.attrs);
  for (Tensor& result : results) {
    const Shape own = result.shape();
    result = query.is_ragged() ? make_ragged(result, as_ragged(query)->partition)
                               : reshape(result, {query.shape()[0], query.shape()[1], own[1], own[2]});
  }
  return results;
}

}  // namespace

constinit const OpDef attention_op{.name = "attention",
                                   .kind = OpKind::Opaque,
                                   .inputs = -1,
                                   .dtype = dtype_rule::any,
                                   .shape = [](OpCall& call) { return attention_shape(call, dense); },
                                   .ragged = RaggedPolicy::PerRow,
                                   .ragged_rule = ragged,
                                   .gradient = gradient<dense>,
                                   .lower = [](LowerCall& call) { lower_attention(call, dense); },
                                   .attrs = [] { return Attrs(AttentionAttrs{}); }};

constinit const OpDef attention_gradient_op{.name = "attention_gradient",
                                            .kind = OpKind::Opaque,
                                            .inputs = -1,
                                            .dtype = dtype_rule::any,
                                            .shape = [](OpCall& call) { return attention_gradient_shape(call, dense); },
                                            .lower = [](LowerCall& call) { lower_attention_gradient(call, dense); },
                                            .attrs = [] { return Attrs(AttentionAttrs{}); }};

constinit const OpDef segment_attention_op{.name = "segment_attention",
                                           .kind = OpKind::Opaque,
                                           .inputs = -1,
                                           .dtype = dtype_rule::splits_last,
                                           .shape = [](OpCall& call) { return attention_shape(call, segments); },
                                           .gradient = gradient<segments>,
                                           .lower = [](LowerCall& call) { lower_attention(call, segments); },
                                           .attrs = [] { return Attrs(AttentionAttrs{}); },
                                           .splits = splits_of_keys};

constinit const OpDef segment_attention_gradient_op{.name = "segment_attention_gradient",
                                                    .kind = OpKind::Opaque,
                                                    .inputs = -1,
                                                    .dtype = dtype_rule::splits_last,
                                                    .shape = [](OpCall& call) { return attention_gradient_shape(call, segments); },
                                                    .lower = [](LowerCall& call) { lower_attention_gradient(call, segments); },
                                                    .attrs = [] { return Attrs(AttentionAttrs{}); },
                                                    .splits = splits_of_keys};

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, DotProductAttentionOptions options) {
  const NamedCall call("dot_product_attention", query, key, value);
  if (!(options.dropout >= 0 && options.dropout < 1)) call.fail_argument(fmt::format("dropout is {}", options.dropout), "0 <= dropout < 1");
  const Dtype pair = promote({query.dtype(), false}, {key.dtype(), false}), common = promote({pair, false}, {value.dtype(), false});
  const Dtype computed = common == Dtype::f64 ? Dtype::f64 : Dtype::f32;
  std::vector<Tensor> inputs = {cast(query, computed), cast(key, computed), cast(value, computed)};
  if (options.mask.defined()) inputs.push_back(cast(options.mask, Dtype::b8));
  if (options.dropout > 0) {
    inputs.push_back(random::integers({1}, {.low = 0, .high = std::numeric_limits<int64_t>::max(), .dtype = Dtype::i64}));
  }
  const Tensor result = bind_all(attention_op, inputs,
                                 AttentionAttrs{.root_scale = !options.scale,
                                                .scale = options.scale.value_or(1),
                                                .causal = options.is_causal,
                                                .masked = options.mask.defined(),
                                                .dropout = options.dropout})[0];
  return is_half(common) ? cast(result, common) : result;
}

}  // namespace anyshape
