// MultiHeadAttention: query, value and key are projected to heads, attend head by head, and are projected back. The heads stay behind time in
// memory, so nothing is transposed; ragged rows attend each within itself.
#include "nn/annotations.h"
#include "nn/make_layer.h"
#include "shape/prove.h"

#include <anyshape/error.h>
#include <anyshape/layers/sequence.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

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
    if (!(options_.dropout >= 0 && options_.dropout < 1)) {
      throw ArgumentError(fmt::format("MultiHeadAttention: dropout is {}; expected 0 <= dropout < 1.", options_.dropout));
    }
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

  using Layer::call;
  Tensor call(std::span<const Tensor> inputs, const CallContext& context) override {
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape());
    require_inputs(shapes);
    const Tensor &query = inputs[0], &value = inputs[inputs.size() > 1 ? 1 : 0], &key = inputs.size() > 2 ? inputs[2] : value;
    const Tensor queries = to_heads(query, query_, key_dim_);
    const Tensor keys = to_heads(key, key_, key_dim_);
    const Tensor values = to_heads(value, value_, options_.value_dim);
    const Tensor mixed = dot_product_attention(queries, keys, values,
                                               {.mask = mask_of_pairs(inputs, value, key),
                                                .is_causal = context.use_causal_mask,
                                                .dropout = context.training ? options_.dropout : 0});
    return from_heads(mixed);
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

  // [..., features] -> [..., heads, depth], by one product for all heads.
  Tensor to_heads(const Tensor& x, const Projection& projection, int64_t depth) const {
    const Tensor kernel = projection.kernel;
    const Tensor matrix = reshape(kernel, {kernel.shape()[0], heads_ * depth});
    return step_by_step(x, [&](const Tensor& steps) {
      Tensor result = matmul(steps, matrix);
      if (options_.use_bias) result = result + reshape(Tensor(projection.bias), {heads_ * depth});
      Shape shape = leading(steps);
      shape.push_back(heads_);
      shape.push_back(depth);
      return reshape(result, shape);
    });
  }

  // [..., heads, value_dim] -> [..., output size]
  Tensor from_heads(const Tensor& x) const {
    const Tensor kernel = output_.kernel;
    const Dim width = heads_ * options_.value_dim;
    const Tensor matrix = reshape(kernel, {width, kernel.shape()[2]});
    return step_by_step(x, [&](const Tensor& steps) {
      Shape shape;
      for (int axis = 0; axis + 2 < steps.rank(); ++axis) shape.push_back(steps.shape()[axis]);
      shape.push_back(width);
      const Tensor result = matmul(reshape(steps, shape), matrix);
      return options_.use_bias ? result + output_.bias : result;
    });
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
    if (inputs.size() < 4) return mask;
    const Tensor& given = inputs[3];
    if (given.is_ragged() || (given.rank() != 3 && given.rank() != 4)) {
      throw ShapeError(
          fmt::format("MultiHeadAttention: attention_mask is {}; expected [batch, query time, key time] or "
                      "[batch, heads, query time, key time].",
                      to_string(given.shape())));
    }
    both(cast(given.rank() == 4 ? given : expand_dims(given, 1), Dtype::b8));
    return mask;
  }

  int64_t heads_, key_dim_;
  MultiHeadAttentionOptions options_;
  Projection query_, key_, value_, output_;
};

Tensor attend(const AnyLayer& layer, std::vector<Tensor> inputs, const AttentionOptions& options) {
  if (options.attention_mask.defined()) {
    if (inputs.size() == 2) inputs.push_back(inputs[1]);
    inputs.push_back(options.attention_mask);
  }
  return layer(inputs, {.training = options.training, .use_causal_mask = options.use_causal_mask});
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t heads, int64_t key_dim, MultiHeadAttentionOptions options)
    : AnyLayer(nn::make_layer<MultiHeadAttentionLayer>(options, heads, key_dim)) {}

Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value, AttentionOptions options) const {
  return attend(*this, {query, value}, options);
}
Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options) const {
  return attend(*this, {query, value, key}, options);
}

}  // namespace anyshape
