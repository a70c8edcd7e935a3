// ONNX's attention and rotary positions: [batch, heads, sequence, depth], or heads side by side in [batch, sequence, heads * depth].
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace anyshape::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// [batch, sequence, heads * depth] -> [batch, heads, sequence, depth]
Tensor heads_apart(NodeCall& call, const Tensor& x, std::string_view count) {
  if (x.rank() == 4) return x;
  if (x.rank() != 3) call.fail(fmt::format("an input of rank {}", x.rank()), "3 or 4");
  const int64_t heads = call.integer(count);
  if (heads < 1) call.fail(fmt::format("{} is {}", count, heads), "at least 1");
  const Shape shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Tensor numbers_to(const Dim& count, Shape shape) { return reshape(arange(count, {.dtype = i64}), shape); }

// What is added to the scores: 0 where a query meets a key, -infinity where not.
struct Bias {
  NodeCall& call;
  Dim queries, keys;
  Dtype dtype;
  Tensor offset;  // i64: how many keys stand before the first query, for all rows or [batch, 1, 1, 1] for each
  Tensor bias = {};

  void add(const Tensor& more) { bias = bias.defined() ? bias + more : more; }
  void allow(const Tensor& allowed) { add(cast(where(allowed, 0.0F, -infinity), dtype)); }

  void add_mask(Tensor mask) {
    const Dim missing = keys - mask.shape()[-1];
    if (!missing.same_as(0)) {
      std::vector<PadWidth> widths(static_cast<size_t>(mask.rank()));
      widths.back().after = missing;
      mask = pad(mask, widths, {.value = mask.dtype() == b8 ? Tensor(false) : Tensor(-infinity)});
    }
    if (mask.dtype() == b8) allow(mask);
    else add(cast(mask, dtype));
  }
  // Query i of those stands at i + offset.
  Tensor distance() const { return numbers_to(queries, {queries, 1}) + offset - numbers_to(keys, {1, keys}); }
  void add_windows() {
    const int64_t left = call.integer("left_window_size", -1), right = call.integer("right_window_size", -1);
    if (call.flag("is_causal")) allow(distance() >= 0);
    if (left >= 0) allow(distance() <= left);
    if (right >= 0) allow(distance() >= -right);
  }
};

// Keys and values of as many heads as there are queries': each for several of them. Open numbers of heads are those of the first call.
Tensor shared_among(NodeCall& call, const Tensor& x, const Dim& heads) {
  const Dim own = x.shape()[1];
  if (own == heads) return x;
  const int64_t count = own.specialize(), wanted = heads.specialize();
  if (count < 1 || wanted % count != 0) call.fail(fmt::format("{} heads of keys for {} of queries", count, wanted), "a part of them");
  return repeat(x, wanted / count, {.axis = 1});
}

Results attention_rule(NodeCall& call) {
  const bool is_flat = call.rank(0) == 3;
  const Tensor query = heads_apart(call, call.tensor(0), "q_num_heads");
  Tensor key = heads_apart(call, call.tensor(1), "kv_num_heads"), value = heads_apart(call, call.tensor(2), "kv_num_heads");
  const Dtype dtype = query.dtype(), computed = call.integer("softmax_precision", 0) == 0 ? dtype : call.dtype("softmax_precision", dtype);
  const bool has_past = call.has(4) && call.has(5), has_lengths = call.has(6);
  Tensor offset = full({}, int64_t{0}, {.dtype = i64});
  if (has_past) {
    offset = Value::size(call.shape(4)[2]).tensor();
    key = concat({call.tensor(4), key}, 2);
    value = concat({call.tensor(5), value}, 2);
  }
  const Tensor present_key = key, present_value = value, lengths = has_lengths ? reshape(cast(call.tensor(6), i64), {-1, 1, 1, 1}) : Tensor();
  const Dim queries = query.shape()[2], keys = key.shape()[2];
  if (has_lengths) offset = lengths - Value::size(queries).tensor();
  Bias bias{call, queries, keys, dtype, offset};
  if (call.has(3)) bias.add_mask(call.tensor(3));
  bias.add_windows();
  if (has_lengths) bias.allow(numbers_to(keys, {1, 1, 1, keys}) < lengths);

  key = shared_among(call, key, query.shape()[1]);
  value = shared_among(call, value, query.shape()[1]);
  const Tensor depth = Value::size(query.shape()[3]).tensor();
  const Tensor scale = call.has("scale") ? full({}, std::sqrt(call.number("scale", 1)), {.dtype = dtype}) : cast(sqrt(rsqrt(cast(depth, f64))), dtype);
  const Tensor raw = matmul(query * scale, key * scale, {.transpose_b = true});
  const double cap = call.number("softcap", 0);
  const Tensor capped = cap > 0 ? cap * tanh(raw / cap) : raw;
  const Tensor scores = bias.bias.defined() ? capped + bias.bias : capped;
  Tensor weights = softmax(cast(scores, computed));
  // A query that may meet no key has no weights.
  if (bias.bias.defined()) weights = where(max(bias.bias, {.axis = -1, .keep_dims = true}) == -infinity, 0, weights);
  weights = cast(weights, dtype);
  Tensor result = matmul(weights, value);
  if (is_flat) {
    const Shape shape = result.shape();
    result = reshape(transpose(result, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
  }
  // What the last output is: the products; capped; with the bias added; the weights.
  const int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) call.fail(fmt::format("qk_matmul_output_mode is {}", mode), "0 to 3");
  const Tensor shown = mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? scores : weights;
  return {result, present_key, present_value, shown};
}

Results rotary_rule(NodeCall& call) {
  const Tensor given = call.tensor(0);
  const bool is_flat = given.rank() == 3;
  const Tensor x = is_flat ? heads_apart(call, given, "num_heads") : given;  // [batch, heads, sequence, depth]
  const Dim depth = x.shape()[3];
  const int64_t part = call.integer("rotary_embedding_dim", 0);
  const Dim rotated = part == 0 ? depth : Dim(part), half = rotated / 2;
  // [batch, sequence, half], by position or as they stand
  const auto factors = [&](size_t input) {
    const Tensor cache = call.tensor(input);
    return expand_dims(call.has(3) ? take(cache, call.tensor(3)) : cache, 1);
  };
  const Tensor cosine = factors(1), sine = factors(2);
  const Tensor turned = slice(x, {{}, {}, {}, {.end = rotated}});
  Tensor a, b;
  const bool interleaved = call.flag("interleaved");
  if (interleaved) {
    a = slice(turned, {{}, {}, {}, {.step = 2}});
    b = slice(turned, {{}, {}, {}, {.begin = 1, .step = 2}});
  } else {
    a = slice(turned, {{}, {}, {}, {.end = half}});
    b = slice(turned, {{}, {}, {}, {.begin = half}});
  }
  const Tensor real = cosine * a - sine * b, imaginary = sine * a + cosine * b;
  Tensor result = interleaved ? reshape(stack({real, imaginary}, {.axis = -1}), turned.shape()) : concat({real, imaginary}, -1);
  if (part != 0) result = concat({result, slice(x, {{}, {}, {}, {.begin = rotated}})}, -1);
  return is_flat ? reshape(transpose(result, {0, 2, 1, 3}), given.shape()) : result;
}

constexpr RuleEntry entries[] = {{"Attention", 23, attention_rule}, {"RotaryEmbedding", 23, rotary_rule}};

}  // namespace

const RuleTable attention_rules = entries;

}  // namespace anyshape::onnx
