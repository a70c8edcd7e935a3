// Loops over windows: pixels on the pool, channels in vector lanes, the window's pixels in order.
#include "loop/element.h"
#include "ops/image/pool.h"
#include "ops/loops.h"

namespace anyshape {

using loop::Value;

PoolLoops::PoolLoops(LowerCall& call, const Shape& inputs, const Shape& outputs)
    : call_(call), b_(call.b), attrs_(call.call.attrs_as<PoolAttrs>()), inputs_(inputs), outputs_(outputs) {
  const std::vector<Dim> from = spatial_sizes(inputs), to = spatial_sizes(outputs);
  if (!attrs_.adaptive) axes_ = window_axes(call, attrs_.windows, from, to, attrs_.taps);
  for (const Dim& taps : attrs_.taps) taps_ = taps_ * taps;
  if (!attrs_.adaptive) return;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    taps_ = taps_ * (from[axis] / max(to[axis], 1) + 1);
    axes_.push_back(
        {.input = call.size(from[axis]), .output = call.size(to[axis]), .taps = {}, .stride = {}, .dilation = {}, .before = {}});
  }
}

// The first and the last part of so many that an element has a share in: [floor(i * parts / elements), ceil((i + 1) * parts / elements)).
static IndexRange shares(loop::Builder& b, Value index, Value elements, Value parts) {
  const Value one = b.integer(1), next = b.multiply(b.add(index, one), parts);
  return {b.floor_divide(b.multiply(index, parts), elements), b.floor_divide(b.add(next, b.subtract(elements, one)), elements)};
}

IndexRange PoolLoops::inputs_of(size_t axis, Value output) {
  const WindowAxis& each = axes_[axis];
  if (attrs_.adaptive) return shares(b_, output, each.output, each.input);
  const Value begin = b_.subtract(b_.multiply(output, each.stride), each.before);
  return {b_.maximum(begin, b_.integer(0)), b_.minimum(b_.add(begin, each.taps), each.input)};
}

IndexRange PoolLoops::outputs_of(size_t axis, Value input) {
  if (!attrs_.adaptive) return outputs_around(b_, axes_[axis], input);
  return shares(b_, input, axes_[axis].input, axes_[axis].output);
}

std::vector<Value> PoolLoops::sizes_of(const Shape& image) {
  std::vector<Value> sizes;
  for (int axis = 0; axis + 1 < image.rank(); ++axis) sizes.push_back(call_.size(image[axis]));
  return sizes;
}

Value PoolLoops::load(int operand, const Shape& image, Place pixel, Value channel) {
  const Value row = ravel(b_, pixel, sizes_of(image));
  return b_.load(call_.input(operand), b_.add(b_.multiply(row, call_.size(image[-1])), channel));
}

void PoolLoops::for_pixels(const Shape& image, const Element& element) {
  const std::vector<Value> sizes = sizes_of(image);
  Dim pixels = 1;
  for (int axis = 0; axis + 1 < image.rank(); ++axis) pixels = pixels * image[axis];
  const Value channels = call_.size(image[-1]), zero = b_.integer(0);
  std::vector<int32_t> targets;
  for (size_t k = 0; k < call_.outputs.size(); ++k) targets.push_back(call_.output(static_cast<int>(k)));
  b_.each(zero, call_.size(pixels), b_.multiply(channels, call_.size(taps_)), [&](Value at) {
    const std::vector<Value> pixel = unravel(b_, at, sizes);
    const Value begin = b_.multiply(at, channels);
    b_.elements(zero, channels, [&](Value channel) {
      const std::vector<Value> results = element(pixel, channel);
      for (size_t k = 0; k < targets.size(); ++k) b_.store(targets[k], b_.add(begin, channel), results[k]);
    });
  });
}

template <class Range>
std::vector<Value> PoolLoops::carry(Place around, const Range& range, std::span<const Value> initial, const Body& body) {
  std::vector<RangeOf> ranges;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    ranges.emplace_back([&range, axis, at = around[axis + 1]](std::span<const Value>) { return range(axis, at); });
  return carry_nest(b_, ranges, initial, [&](std::span<const Value> index, std::span<const Value> carried) {
    std::vector<Value> met = {around[0]};
    met.insert(met.end(), index.begin(), index.end());
    return body(met, carried);
  });
}

std::vector<Value> PoolLoops::carry_inputs(Place output, std::span<const Value> initial, const Body& body) {
  return carry(output, [this](size_t axis, Value at) { return inputs_of(axis, at); }, initial, body);
}
std::vector<Value> PoolLoops::carry_outputs(Place input, std::span<const Value> initial, const Body& body) {
  return carry(input, [this](size_t axis, Value at) { return outputs_of(axis, at); }, initial, body);
}

Value PoolLoops::input_number(Place input) {
  Value number = b_.integer(0);
  for (size_t axis = 0; axis < axes_.size(); ++axis) number = b_.add(b_.multiply(number, axes_[axis].input), input[axis + 1]);
  return b_.cast(number, Dtype::i32);
}

Value PoolLoops::first_input(Place output) {
  std::vector<Value> first = {output[0]};
  for (size_t axis = 0; axis < axes_.size(); ++axis) first.push_back(inputs_of(axis, output[axis + 1]).begin);
  return input_number(first);
}

Value PoolLoops::count_inputs(Place output, Dtype type) {
  Value count = b_.integer(1);
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    const IndexRange range = inputs_of(axis, output[axis + 1]);
    count = b_.multiply(count, b_.maximum(b_.subtract(range.end, range.begin), b_.integer(0)));
  }
  return b_.cast(count, type);
}

}  // namespace anyshape
