// random::categorical: logits [..., classes] -> classes drawn with the chances softmax(logits); bernoulli: true with one chance.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

using loop::Value;

struct CategoricalAttrs {
  Dim count;
  int64_t stream = no_stream;
  template <class V>
  void visit(V& v) {
    v("count", count);
    v("stream", stream);
  }
};

// The input holds weights: chances that need not sum to 1.
Specs shape(OpCall& call) {
  const Dim& count = call.attrs_as<CategoricalAttrs>().count;
  const Shape& weights = call.shape(0);
  if (weights.rank() == 0) call.fail("there is no axis of classes", "logits of at least rank 1");
  call.require({Relation::LessEqual, 0, count}, fmt::format("count is {}", to_string(count)), "0 or more");
  call.require({Relation::LessEqual, 1, weights[-1]}, "there are no classes", "a last axis of at least 1");
  call.require({Relation::LessEqual, weights[-1], std::numeric_limits<int32_t>::max()}, "there are too many classes", "at most 2147483647");
  Shape result = weights;
  result[-1] = count;
  return {{Dtype::i32, std::move(result), {}}};
}

// The number of classes whose weights, summed up to them, do not exceed a random part of the sum of all. Both sums add in the same order, in
// f64: a class without weight is never drawn.
Value element(ElementCall& call) {
  loop::Builder& b = call.b;
  const Value classes = call.size(call.call.shape(0)[-1]), zero = b.constant(Dtype::f64, 0.0);
  std::vector<Value> at(call.index.begin(), call.index.end());
  const auto weight = [&](Value k) {
    at.back() = k;
    return b.cast(call.input(0, at), Dtype::f64);
  };
  const Value nothing[] = {zero};
  const std::vector<Value> total =
      b.carry_for(b.integer(0), classes, nothing,
                  [&](Value k, std::span<const Value> sum) -> std::vector<Value> { return {b.add(sum[0], weight(k))}; });
  const Value target = b.multiply(loop::uniform_from_words(b, random_words(call), Dtype::f64), total[0]);
  const Value start[] = {zero, b.integer(0)};
  const std::vector<Value> found =
      b.carry_for(b.integer(0), classes, start, [&](Value k, std::span<const Value> carried) -> std::vector<Value> {
        const Value sum = b.add(carried[0], weight(k));
        return {sum, b.add(carried[1], b.cast(b.binary(loop::Op::LessEqual, sum, target), Dtype::i64))};
      });
  return b.cast(found[1], Dtype::i32);
}

}  // namespace

constinit const OpDef categorical_op{.name = "random::categorical",
                                     .kind = OpKind::Random,
                                     .inputs = 1,
                                     .dtype = dtype_rule::floating,
                                     .shape = shape,
                                     .element = element,
                                     .whole_inputs = 0b1,
                                     .attrs = [] { return Attrs(CategoricalAttrs{}); }};

Tensor random::categorical(const Tensor& logits, const Dim& count) {
  const NamedCall call("random::categorical", logits);
  if (logits.rank() == 0) return bind(categorical_op, {logits}, CategoricalAttrs{count});  // refused by the shape rule
  return bind(categorical_op, {exp(logits - max(logits, {.axes = {-1}, .keep_dims = true}))}, CategoricalAttrs{count});
}

Tensor random::bernoulli(const Shape& shape, BernoulliOptions options) {
  const NamedCall call("random::bernoulli");
  if (!(options.probability >= 0 && options.probability <= 1))
    call.fail_argument(fmt::format("probability is {}", options.probability), "a number from 0 to 1");
  return cast(uniform(shape) < options.probability, options.dtype);
}

}  // namespace anyshape
