// MultiHeadAttention: query, value and key are projected to heads, attend head by head, and are projected back. The heads stay behind time in
// memory, so nothing is transposed; ragged rows attend each within itself. With a cache the keys and values of earlier steps stand before the
// new ones. Scores stand in memory only where they are asked for: then they are computed beside the output.
#include "base/option_rules.h"
#include "graph/layer_path.h"
#include "nn/make_layer.h"
#include "nn/notes.h"
#include "nn/placeholder.h"
#include "shape/prove.h"

#include <anyshape/error.h>
#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <cmath>
#include <tuple>

namespace anyshape {
namespace {

// The values of a ragged tensor under a function of steps, in the same rows; a dense tensor as it is.
template <class Change>
Tensor step_by_step(const Tensor& x, const Change& change) {
  return x.is_ragged() ? with_rows_of(change(x.values()), x) : change(x);
}

Shape leading(const Tensor& x) {
  Shape shape;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) shape.push_back(x.shape()[axis]);
  return shape;
}

class MultiHeadAttentionLayer final : public Layer {
 public:
  MultiHeadAttentionLayer(int64_t heads, int64_t key_dim, MultiHeadAttentionOptions options)
      : Layer("MultiHeadAttention"), heads_(heads), key_dim_(key_dim), options_(std::move(options)) {
    nn::require_positive("MultiHeadAttention", "heads", heads);
    nn::require_positive("MultiHeadAttention", "key_dim", key_dim);
    if (options_.value_dim == 0) options_.value_dim = key_dim;
    nn::require_positive("MultiHeadAttention", "value_dim", options_.value_dim);
    if (options_.output_size < 0) nn::require_positive("MultiHeadAttention", "output_size", options_.output_size);
    require::share_below_one("MultiHeadAttention", "dropout", options_.dropout);
  }

  bool supports_masking() const override { return true; }

  using Layer::build;
  void build(std::span<const Shape> inputs) override {
    require_inputs(inputs);
    const Shape &query = inputs[0], &value = inputs[inputs.size() > 1 ? 1 : 0], &key = inputs.size() > 2 ? inputs[2] : value;
    query_ = projection("query", {query[-1], heads_, key_dim_}, {heads_, key_dim_});
    key_ = projection("key", {key[-1], heads_, key_dim_}, {heads_, key_dim_});
    value_ = projection("value", {value[-1], heads_, options_.value_dim}, {heads_, options_.value_dim});
    const Dim size = options_.output_size > 0 ? Dim(options_.output_size) : query[-1];
    output_ = projection("attention_output", {heads_, options_.value_dim, size}, {size});
  }

  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext& context) override {
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape());
    require_inputs(shapes);
    const Tensor &query = inputs[0], &value = inputs[inputs.size() > 1 ? 1 : 0], &key = inputs.size() > 2 ? inputs[2] : value;
    const Tensor queries = to_heads(query, query_, key_dim_);
    const Tensor keys = to_heads(key, key_, key_dim_);
    const Tensor values = to_heads(value, value_, options_.value_dim);
    const Tensor mask = mask_of_pairs(inputs, value, key);
    const Tensor mixed = dot_product_attention(
        queries, keys, values, {.mask = mask, .is_causal = context.use_causal_mask, .dropout = context.training ? options_.dropout : 0});
    if (!context.return_attention_scores) return {from_heads(mixed)};
    return {from_heads(mixed), scores_of(queries, keys, mask, context.use_causal_mask)};
  }

  // The output of the new steps, and the keys and values of all.
  std::vector<Tensor> run(const Tensor& steps, const AttentionCache& cache, const Tensor& mask, const CallContext& context) const {
    const Shape shape = steps.shape();
    require_inputs({&shape, 1});
    require_cache(steps, cache);
    if (nn::mask_of(steps).defined() && !mask.defined()) {
      throw ArgumentError(
          fmt::format("MultiHeadAttention: the new steps carry a mask, and a cache keeps none of earlier steps; expected attention_mask "
                      "[batch, new steps, all steps], or ragged rows, which need no mask.{}",
                      current_place()));
    }
    const auto grown = [&](const Tensor& before, const Tensor& after) { return concat({cast(before, after.dtype()), after}, {.axis = 1}); };
    const Tensor keys = grown(cache.keys, to_heads(steps, key_, key_dim_));
    const Tensor values = grown(cache.values, to_heads(steps, value_, options_.value_dim));
    const Tensor mixed = dot_product_attention(
        to_heads(steps, query_, key_dim_), keys, values,
        {.mask = mask.defined() ? given_mask(mask) : Tensor(), .is_causal = true, .dropout = context.training ? options_.dropout : 0});
    return {from_heads(mixed), keys, values};
  }

  AttentionCache empty_cache(const Dim& batch, EmptyCacheOptions options) const {
    const auto empty = [&](int64_t depth) {
      if (!options.ragged) return zeros({batch, 0, heads_, depth}, {.dtype = dtype()});
      return ragged_from_lengths(zeros({0, heads_, depth}, {.dtype = dtype()}), zeros({batch}, {.dtype = Dtype::i64}));
    };
    return {empty(key_dim_), empty(options_.value_dim)};
  }

 private:
  struct Projection {
    Variable kernel, bias;
  };

  Projection projection(const std::string& name, const Shape& kernel, const Shape& bias) {
    Projection made;
    made.kernel = weight(name + "/kernel", kernel, {.initializer = options_.kernel_initializer});
    if (options_.use_bias) made.bias = weight(name + "/bias", bias, {.initializer = options_.bias_initializer});
    return made;
  }

  static void require_inputs(std::span<const Shape> inputs) {
    constexpr const char* rule = "query [batch, time, features], then value, key and attention_mask";
    if (inputs.size() > 4) throw ArgumentError(fmt::format("MultiHeadAttention: got {} inputs; expected {}.", inputs.size(), rule));
    for (const Shape& input : inputs.first(std::min<size_t>(inputs.size(), 3))) {
      if (input.rank() != 3) throw ShapeError(fmt::format("MultiHeadAttention: an input is {}; expected {}.", to_string(input), rule));
    }
  }

  // What is known to be wrong while the call is made; sizes that are symbols are checked where the cache is joined with the new steps.
  void require_cache(const Tensor& steps, const AttentionCache& cache) const {
    const auto begin = [] {
      return fmt::format("Begin with empty_cache(batch) of this layer, and give each call what the one before gave.{}", current_place());
    };
    for (const auto& [name, held, depth] :
         {std::tuple{"keys", &cache.keys, key_dim_}, std::tuple{"values", &cache.values, options_.value_dim}}) {
      if (!held->defined())
        throw ArgumentError(fmt::format("MultiHeadAttention: the cache has no {}; expected tensors. {}", name, begin()));
      if (held->is_ragged() != steps.is_ragged()) {
        throw ShapeError(fmt::format(
            "MultiHeadAttention: the new steps are {}, and the cache's {} {}; expected both ragged or neither. Ragged rows begin with "
            "empty_cache(rows, {{.ragged = true}}).{}",
            to_string(steps.shape()), name, to_string(held->shape()), current_place()));
      }
      const Shape shape = held->shape();
      const auto differs = [](const Dim& a, const Dim& b) { return proves_equal(a, b) == false; };
      if (shape.rank() == 4 && !differs(shape[0], steps.shape()[0]) && !differs(shape[2], heads_) && !differs(shape[3], depth)) continue;
      throw ShapeError(fmt::format("MultiHeadAttention: the cache's {} are {}; expected [{}, time, {}, {}]. {}", name, to_string(shape),
                                   to_string(steps.shape()[0]), heads_, depth, begin()));
    }
  }

  // [..., features] -> [..., heads, depth], by one product for all heads.
  Tensor to_heads(const Tensor& x, const Projection& projection, int64_t depth) const {
    const Tensor kernel = projection.kernel;
    const Tensor matrix = reshape(kernel, {kernel.shape()[0], Dim(heads_) * depth});
    return step_by_step(x, [&](const Tensor& steps) {
      Tensor result = matmul(steps, matrix);
      if (options_.use_bias) result = result + reshape(Tensor(projection.bias), {Dim(heads_) * depth});
      Shape shape = leading(steps);
      shape.push_back(heads_);
      shape.push_back(depth);
      return reshape(result, shape);
    });
  }

  // [..., heads, value_dim] -> [..., output size]
  Tensor from_heads(const Tensor& x) const {
    const Tensor kernel = output_.kernel;
    const Dim width = Dim(heads_) * options_.value_dim;
    const Tensor matrix = reshape(kernel, {width, kernel.shape()[2]});
    return step_by_step(x, [&](const Tensor& steps) {
      Shape shape;
      for (int axis = 0; axis + 2 < steps.rank(); ++axis) shape.push_back(steps.shape()[axis]);
      shape.push_back(width);
      const Tensor result = matmul(reshape(steps, shape), matrix);
      return options_.use_bias ? result + output_.bias : result;
    });
  }

  // [batch, heads, query time, key time]: what the values are weighed by, before dropout. A key that causality hides has 0; where the mask
  // hides all the others, each of them has its equal share.
  Tensor scores_of(const Tensor& queries, const Tensor& keys, const Tensor& mask, bool is_causal) const {
    if (queries.is_ragged() || keys.is_ragged()) {
      throw ArgumentError(
          fmt::format("MultiHeadAttention: scores are asked for rows of unequal length, where they would have two axes of unequal sizes; "
                      "expected dense inputs. Pad them with as::to_padded, and hide what is padded by a mask.{}",
                      current_place()));
    }
    const Dtype computed = queries.dtype() == Dtype::f64 ? Dtype::f64 : Dtype::f32;
    Tensor likeness =
        einsum("bqhd,bkhd->bhqk", {cast(queries, computed), cast(keys, computed)}) * (1 / std::sqrt(static_cast<double>(key_dim_)));
    if (mask.defined()) likeness = where(mask, likeness, -1e30);  // finite, as in the op: all hidden is all alike
    if (!is_causal) return cast(softmax(likeness), queries.dtype());
    const Tensor positions = expand_dims(arange(queries.shape()[1], {.dtype = Dtype::i64}), 1),
                 others = arange(keys.shape()[1], {.dtype = Dtype::i64});
    const Tensor is_met = others - positions <= size(keys, 1) - size(queries, 1);
    return cast(where(is_met, softmax(where(is_met, likeness, -3e38)), 0), queries.dtype());
  }

  // Which key a query may meet, as [batch or 1, heads or 1, queries or 1, keys]: the masks that value and key carry, and the one given. A masked
  // query has a result like any other: its own mask travels with the result and tells who must not look.
  static Tensor mask_of_pairs(std::span<const Tensor> inputs, const Tensor& value, const Tensor& key) {
    Tensor mask;
    const auto both = [&](const Tensor& next) { mask = mask.defined() ? logical_and(mask, next) : next; };
    const auto add_mask_of = [&](const Tensor& operand) {
      Tensor own = nn::mask_of(operand);
      if (own.defined() && own.is_ragged()) own = to_padded(own);
      if (own.defined()) both(reshape(own, {own.shape()[0], 1, 1, own.shape()[1]}));
    };
    add_mask_of(value);
    if (&key != &value) add_mask_of(key);
    if (inputs.size() > 3) both(given_mask(inputs[3]));
    return mask;
  }

  static Tensor given_mask(const Tensor& given) {
    if (given.is_ragged() || (given.rank() != 3 && given.rank() != 4)) {
      throw ShapeError(
          fmt::format("MultiHeadAttention: attention_mask is {}; expected [batch, query time, key time] or "
                      "[batch, heads, query time, key time].",
                      to_string(given.shape())));
    }
    return cast(given.rank() == 4 ? given : expand_dims(given, 1), Dtype::b8);
  }

  int64_t heads_, key_dim_;
  MultiHeadAttentionOptions options_;
  Projection query_, key_, value_, output_;
};

std::vector<Tensor> inputs_of(std::vector<Tensor> inputs, const AttentionOptions& options) {
  if (options.attention_mask.defined()) {
    if (inputs.size() == 2) inputs.push_back(inputs[1]);
    inputs.push_back(options.attention_mask);
  }
  return inputs;
}

LayerCallOptions call_options(const AttentionOptions& options) {
  return {
      .training = options.training, .use_causal_mask = options.use_causal_mask, .return_attention_scores = options.return_attention_scores};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t heads, int64_t key_dim, MultiHeadAttentionOptions options)
    : AnyLayer(nn::make_layer<MultiHeadAttentionLayer>(options, nn::AttentionArguments{heads, key_dim})) {}

Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value, AttentionOptions options) const {
  return (*this)(inputs_of({query, value}, options), call_options(options));
}
Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options) const {
  return (*this)(inputs_of({query, value, key}, options), call_options(options));
}
Outputs MultiHeadAttention::outputs(const Tensor& query, const Tensor& value, AttentionOptions options) const {
  return outputs(inputs_of({query, value}, options), call_options(options));
}
Outputs MultiHeadAttention::outputs(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options) const {
  return outputs(inputs_of({query, value, key}, options), call_options(options));
}

CachedAttention MultiHeadAttention::run(const Tensor& steps, const AttentionCache& cache, CachedAttentionOptions options) const {
  for (const Tensor* tensor : {&steps, &cache.keys, &cache.values}) {
    if (!tensor->defined() || !nn::is_placeholder(*tensor)) continue;
    throw ArgumentError(
        "MultiHeadAttention: run() is given what as::input() describes; expected tensors: a model that is described keeps no cache. Call "
        "the layer in a function or a layer of your own (docs/guide/decoding.md).");
  }
  // The cache stays outside the call's inputs, which the weights are made for.
  const std::vector<Tensor> results =
      call_all({&steps, 1}, {.training = options.training}, [&](std::span<const Tensor> operands, const CallContext& context) {
        return static_cast<const MultiHeadAttentionLayer&>(*layer()).run(operands[0], cache, options.attention_mask, context);
      });
  return {results[0], {results[1], results[2]}};
}

AttentionCache MultiHeadAttention::empty_cache(const Dim& batch, EmptyCacheOptions options) const {
  return static_cast<const MultiHeadAttentionLayer&>(*layer()).empty_cache(batch, options);
}

}  // namespace anyshape
