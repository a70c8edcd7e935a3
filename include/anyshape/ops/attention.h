// Attention: every query meets the keys of its row and takes the mean of their values, weighted by likeness.
#pragma once
#include <anyshape/tensor.h>

#include <optional>

#pragma GCC visibility push(default)
namespace anyshape {

/// Which keys a query meets, and what becomes of scores and weights: by default all keys, 1 / sqrt(depth) and no dropout.
struct DotProductAttentionOptions {
  /// b8 [batch or 1, heads or 1, queries or 1, keys]: false hides a key from a query. Where rows are ragged it is that of the padded view.
  Tensor mask = {};
  std::optional<double> scale = {};  ///< of the scores; none: 1 / sqrt(depth)
  bool is_causal = false;            ///< query i of m meets keys 0 .. i + n - m of n: the last query meets them all
  double dropout = 0;                ///< the share of weights set to 0, the others growing by 1 / (1 - dropout)
};
/// softmax(scale * query key^T) value for each head: query [batch, queries, heads, depth], key [batch, keys, heads, depth],
/// value [batch, keys, heads, value depth] -> [batch, queries, heads, value depth]. Weights are made tile by tile and never stand in memory as
/// a whole. Query and key may be ragged along the second axis, each in rows of its own: a row meets its own keys only, and a causal mask ends
/// where they end. A query without keys gives 0: of a row that has none, or where causality leaves none (i < m - n). One all of whose keys the
/// mask hides takes their plain mean. Halves are computed in f32.
Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, DotProductAttentionOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
