// random::integers: whole numbers, all equally likely; permutation and shuffle, which sort by random keys.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

using loop::Builder;
using loop::Op;
using loop::Value;

// The bounds are sizes, so that eager calls with other bounds find the same kernel.
struct IntegersAttrs {
  Shape shape;
  Dim low;
  Dim high;
  Dtype dtype = Dtype::i32;
  int64_t stream = no_stream;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
    v("low", low);
    v("high", high);
    v("dtype", dtype);
    v("stream", stream);
  }
};

template <class Element>
void require_fits(OpCall& call, const IntegersAttrs& attrs, const std::string& what) {
  using Limits = std::numeric_limits<Element>;
  const std::string rule = fmt::format("bounds from {} to {} for {}", Limits::min(), Limits::max(), to_string(attrs.dtype));
  call.require({Relation::LessEqual, int64_t{Limits::min()}, attrs.low}, what, rule);
  call.require({Relation::LessEqual, attrs.high - 1, int64_t{Limits::max()}}, what, rule);
}

Specs shape(OpCall& call) {
  const IntegersAttrs& attrs = call.attrs_as<IntegersAttrs>();
  require_sizes(call, attrs.shape);
  const std::string what = fmt::format("low is {} and high is {}", to_string(attrs.low), to_string(attrs.high));
  switch (attrs.dtype) {
    case Dtype::u8: require_fits<uint8_t>(call, attrs, what); break;
    case Dtype::i32: require_fits<int32_t>(call, attrs, what); break;
    case Dtype::i64: break;
    default: call.fail_dtype(fmt::format("random integers of dtype {}", to_string(attrs.dtype)), "u8, i32 or i64");
  }
  call.require({Relation::Less, attrs.low, attrs.high}, what, "low < high");
  return {{attrs.dtype, attrs.shape, {}}};
}

Value low_half(Builder& b, Value x) { return b.binary(Op::And, x, b.integer(0xffffffff)); }
Value high_half(Builder& b, Value x) { return b.binary(Op::ShiftRightLogical, x, b.integer(32)); }

// floor(bits * range / 2^64) with 64 random bits, given as two words: every number below `range` with the same chance to within 2^-32 of it
// for ranges of 32 bits. No number is drawn again, so that elements stay independent of each other.
Value scaled(Builder& b, Value high_word, Value low_word, Value range) {
  const Value x1 = low_half(b, b.cast(high_word, Dtype::i64)), x0 = low_half(b, b.cast(low_word, Dtype::i64));
  const Value r1 = high_half(b, range), r0 = low_half(b, range);
  const Value p00 = b.multiply(x0, r0), p01 = b.multiply(x0, r1), p10 = b.multiply(x1, r0), p11 = b.multiply(x1, r1);
  const Value middle = b.add(high_half(b, p00), b.add(low_half(b, p01), low_half(b, p10)));
  return b.add(b.add(p11, high_half(b, middle)), b.add(high_half(b, p01), high_half(b, p10)));
}

Value element(ElementCall& call) {
  const IntegersAttrs& attrs = call.call.attrs_as<IntegersAttrs>();
  const loop::RandomWords words = random_words(call);
  const Value number = scaled(call.b, words.word[0], words.word[1], call.size(attrs.high - attrs.low));
  return call.b.cast(call.b.add(call.size(attrs.low), number), attrs.dtype);
}

}  // namespace

constinit const OpDef integers_op{
    .name = "random::integers", .kind = OpKind::Random, .inputs = 0, .shape = shape, .element = element, .attrs = [] {
      return Attrs(IntegersAttrs{});
    }};

Tensor random::integers(const Shape& shape, IntegersOptions options) {
  const NamedCall call("random::integers");
  return bind(integers_op, {}, IntegersAttrs{shape, options.low, options.high, options.dtype});
}

// Keys of 62 bits: two of them are equal with no noticeable chance, so every order is equally likely.
Tensor random::permutation(const Dim& n) {
  const NamedCall call("random::permutation");
  return argsort(integers({n}, {.high = int64_t{1} << 62, .dtype = Dtype::i64}));
}

Tensor random::shuffle(const Tensor& x, ShuffleOptions options) {
  const NamedCall call("random::shuffle", x);
  const int axis = call.axis(options.axis);
  return take(x, permutation(x.shape()[axis]), {.axis = axis});
}

}  // namespace anyshape
