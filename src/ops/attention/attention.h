// What the attention ops share: their attributes and the order of their inputs.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

struct AttentionAttrs {
  bool root_scale = true;  // scores are divided by the root of the depth; otherwise multiplied by `scale`
  double scale = 1;
  bool causal = false;
  bool masked = false;  // there is a mask among the inputs
  double dropout = 0;   // above 0 there is a random key among the inputs
  template <class V>
  void visit(V& v) {
    v("root_scale", root_scale);
    v("scale", scale);
    v("causal", causal);
    v("masked", masked);
    v("dropout", dropout);
  }
};

// Dense: query [batch, queries, heads, depth], key [batch, keys, heads, depth], value [batch, keys, heads, value depth].
// In segments: query [all queries, heads, depth], key and value [all keys, heads, ...], and splits of both at the end.
// The gradient has further inputs: dy, statistics [..., queries, heads, 2] (the greatest score and the sum of exponentials) and the sum of
// y dy per query [..., queries, heads]. Then come the mask b8[rows or 1, heads or 1, queries or 1, keys] and the random key i64[1], if any.
struct AttentionInputs {
  int query = 0, key = 1, value = 2;
  int dy = -1, statistics = -1, products = -1;
  int mask = -1, random_key = -1;
  int query_splits = -1, key_splits = -1;
  int count = 0;
};
enum class AttentionForm : uint8_t { Dense, Segments };
AttentionInputs attention_inputs(const AttentionAttrs& attrs, AttentionForm form, bool is_gradient);

void lower_attention(LowerCall& call, AttentionForm form);
void lower_attention_gradient(LowerCall& call, AttentionForm form);

}  // namespace anyshape
