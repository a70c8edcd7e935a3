// interpolate: x -> along an axis of n elements m others, each between the pixels whose centres are around its own, or equal to the pixel that its centre
// is in. Positions are whole numbers, in units of 1 / 2m of a pixel, so that none is rounded.
#include "ops/image/interpolate.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/loops.h"
#include "ops/sizes.h"

namespace anyshape {

extern const OpDef interpolate_op, interpolate_gradient_op;

namespace {

using loop::Value;

struct InterpolateAttrs {
  int64_t axis = 1;
  Dim size;
  bool linear = true;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("size", size);
    v("linear", linear);
  }
};

// As many elements as the attributes say; `is_gradient`: those are the pixels, and x has the others.
Specs resized(OpCall& call, bool is_gradient) {
  const auto& attrs = call.attrs_as<InterpolateAttrs>();
  Shape result = call.shape(0);
  const int axis = call.axis(attrs.axis, result.rank());
  const Dim pixels = is_gradient ? attrs.size : result[axis], others = is_gradient ? result[axis] : attrs.size;
  if (attrs.linear && !is_floating(call.inputs[0].dtype)) call.fail_dtype("whole numbers have none between them", "a floating dtype");
  call.require({Relation::LessEqual, 0, attrs.size}, "a size is negative", "sizes of at least 0");
  call.require({Relation::LessEqual, min(others, 1), pixels}, "there is no pixel to take values from", "images of at least one pixel");
  result[axis] = attrs.size;
  return {{call.inputs[0].dtype, std::move(result), {}}};
}
Specs shape(OpCall& call) { return resized(call, false); }
Specs gradient_shape(OpCall& call) { return resized(call, true); }

Tensor other_way(const GradientCall& call, const OpDef& op) {
  InterpolateAttrs attrs = call.attrs.as<InterpolateAttrs>();
  attrs.size = call.inputs[0].shape()[static_cast<int>(attrs.axis)];
  return bind(op, {call.dys[0]}, attrs);
}
std::vector<Tensor> gradient(const GradientCall& call) { return {other_way(call, interpolate_gradient_op)}; }
std::vector<Tensor> gradient_of_gradient(const GradientCall& call) { return {other_way(call, interpolate_op)}; }

// Which pixels make a result, and the share of the second. (Of a result that equals a pixel there is no second.)
struct Source {
  Value first, second, share;
};
Source source_of(loop::Builder& b, const InterpolateAttrs& attrs, Value result, Value pixels, Value results, Dtype type) {
  const Value two = b.integer(2), one = b.integer(1), zero = b.integer(0), unit = b.multiply(results, two);
  const Value centre = b.multiply(b.add(b.multiply(result, two), one), pixels);
  if (!attrs.linear) return {b.floor_divide(centre, unit), {}, {}};
  const Value place = b.subtract(centre, results), before = b.floor_divide(place, unit), last = b.subtract(pixels, one);
  const auto inside = [&](Value pixel) { return b.minimum(b.maximum(pixel, zero), last); };
  const Value rest = b.cast(b.subtract(place, b.multiply(before, unit)), type);
  return {inside(before), inside(b.add(before, one)), b.divide(rest, b.cast(unit, type))};
}

Value element(ElementCall& call) {
  loop::Builder& b = call.b;
  const auto& attrs = call.call.attrs_as<InterpolateAttrs>();
  const auto axis = static_cast<size_t>(call.call.axis(attrs.axis, call.output.shape.rank()));
  const Dtype type = call.output.dtype;
  const Source source =
      source_of(b, attrs, call.index[axis], call.size(call.call.shape(0)[static_cast<int>(axis)]), call.size(attrs.size), type);
  const auto at = [&](Value pixel) {
    std::vector<Value> index(call.index.begin(), call.index.end());
    index[axis] = pixel;
    return call.input(0, index);
  };
  if (!attrs.linear) return at(source.first);
  const Value rest = b.subtract(b.constant(type, 1.0), source.share);
  return b.add(b.multiply(at(source.first), rest), b.multiply(at(source.second), source.share));
}

// The results that a pixel has a share in lie side by side. Those beyond the outermost centres are theirs alone.
struct Range {
  Value begin, end;
};
Range results_of(loop::Builder& b, const InterpolateAttrs& attrs, Value pixel, Value pixels, Value results) {
  const Value one = b.integer(1), two = b.integer(2), zero = b.integer(0), step = b.multiply(pixels, two);
  // The first result whose centre is not before a place, which is given in pixels: i where (2 i + 1) n >= 2 m * place (+ m for linear).
  const auto first_behind = [&](Value place) {
    Value least = b.subtract(b.multiply(b.multiply(results, two), place), pixels);
    if (attrs.linear) least = b.add(least, results);
    return b.floor_divide(b.add(least, b.subtract(step, one)), step);
  };
  const Value begin = first_behind(attrs.linear ? b.subtract(pixel, one) : pixel), end = first_behind(b.add(pixel, one));
  if (!attrs.linear) return {b.maximum(begin, zero), b.minimum(end, results)};
  const Value is_first = b.equal(pixel, zero), is_last = b.equal(pixel, b.subtract(pixels, one));
  return {b.select(is_first, zero, b.maximum(begin, zero)), b.select(is_last, results, b.minimum(end, results))};
}

void lower_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  const auto& attrs = call.call.attrs_as<InterpolateAttrs>();
  const Shape &from = call.call.shape(0), &to = call.outputs[0].shape;
  const int axis = call.call.axis(attrs.axis, from.rank());
  const Dtype type = call.outputs[0].dtype;
  const int32_t dy = call.input(0), dx = call.output(0);
  const Value pixels = call.size(to[axis]), results = call.size(from[axis]), inner = call.size(count_between(to, axis + 1, to.rank()));
  const Value nothing = b.constant(type, int64_t{0}), zero = b.integer(0);
  const Value work = b.multiply(inner, call.size(from[axis] / max(to[axis], 1) + 2));
  b.each(zero, b.multiply(call.size(count_between(to, 0, axis)), pixels), work, [&](Value row) {
    const Value outer = b.floor_divide(row, pixels), pixel = modulo(b, row, pixels);
    const Range range = results_of(b, attrs, pixel, pixels, results);
    b.elements(zero, inner, [&](Value i) {
      const std::vector<Value> total = b.carry_for(range.begin, range.end, {&nothing, 1}, [&](Value result, std::span<const Value> sum) {
        const Value given = b.load(dy, b.add(b.multiply(b.add(b.multiply(outer, results), result), inner), i));
        if (!attrs.linear) return std::vector<Value>{b.add(sum[0], given)};
        const Source source = source_of(b, attrs, result, pixels, results, type);
        const Value as_first = b.select(b.equal(source.first, pixel), b.subtract(b.constant(type, 1.0), source.share), nothing);
        const Value as_second = b.select(b.equal(source.second, pixel), source.share, nothing);
        return std::vector<Value>{b.fma(given, b.add(as_first, as_second), sum[0])};
      });
      b.store(dx, b.add(b.multiply(row, inner), i), total[0]);
    });
  });
}

bool keeps_rows(const OpCall& call) { return call.attrs_as<InterpolateAttrs>().axis > 0; }
constexpr RowRule row_rule{.is_apart = keeps_rows};

}  // namespace

constinit const OpDef interpolate_op{.name = "interpolate",
                                     .kind = OpKind::Opaque,
                                     .inputs = 1,
                                     .dtype = dtype_rule::any,
                                     .shape = shape,
                                     .gradient = gradient,
                                     .element = element,
                                     .rows = &row_rule,
                                     .attrs = [] { return Attrs(InterpolateAttrs{}); }};

constinit const OpDef interpolate_gradient_op{.name = "interpolate_gradient",
                                              .kind = OpKind::Opaque,
                                              .inputs = 1,
                                              .dtype = dtype_rule::any,
                                              .shape = gradient_shape,
                                              .gradient = gradient_of_gradient,
                                              .lower = lower_gradient,
                                              .rows = &row_rule,
                                              .attrs = [] { return Attrs(InterpolateAttrs{}); }};

Tensor interpolate(const Tensor& x, int axis, const Dim& size, bool is_linear) {
  return bind(interpolate_op, {x}, InterpolateAttrs{.axis = axis, .size = size, .linear = is_linear});
}

}  // namespace anyshape
