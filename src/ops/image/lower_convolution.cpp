// A convolution is the library's work (f32), or loops over the wanted tensor: pixels on the pool, its last axis in vector lanes.
#include "ops/image/convolution.h"

#include "loop/element.h"
#include "ops/loops.h"

namespace anyshape {
namespace {

using loop::Value;
using Wanted = ConvolutionWork::Wanted;

// Where every channel is a group and there is no channel, there is no group either.
Dim at_least_one(const Dim& groups) { return max(groups, 1); }

class ConvolutionLoops {
 public:
  ConvolutionLoops(LowerCall& call, const ConvolutionShapes& shapes, const ConvolutionAttrs& attrs)
      : call_(call),
        b_(call.b),
        shapes_(shapes),
        type_(call.outputs[0].dtype),
        axes_(window_axes(call, attrs.windows, shapes.inputs, shapes.outputs, shapes.taps)),
        image_(image_shape(shapes.images, shapes.inputs, shapes.channels)),
        result_(image_shape(shapes.images, shapes.outputs, shapes.filters)),
        channels_of_group_(shapes.of_group),
        filters_of_group_(shapes.filters / at_least_one(attrs.groups)),
        is_one_group_(attrs.groups.same_as(1)) {
    for (const Dim& taps : shapes.taps) kernel_.push_back(taps);
    kernel_.push_back(channels_of_group_);
    kernel_.push_back(shapes.filters);
  }

  // Of each output the taps that meet the image, times the channels of the filter's group.
  void result() {
    for_rows(result_, channels_of_group_ * kernel_count(), [&](std::span<const Value> row, Value filter) {
      std::vector<RangeOf> ranges;
      for (size_t axis = 0; axis < axes_.size(); ++axis)
        ranges.emplace_back([this, axis, row](std::span<const Value>) { return taps_inside(b_, axes_[axis], row[axis + 1]); });
      ranges.emplace_back(all_of(channels_of_group_));
      const Value first = first_in_group(filter, filters_of_group_, channels_of_group_);
      return total(ranges, [&, filter, first](std::span<const Value> at) {
        std::vector<Value> x = {row[0]}, kernel;
        for (size_t axis = 0; axis < axes_.size(); ++axis) {
          x.push_back(met_input(b_, axes_[axis], row[axis + 1], at[axis]));
          kernel.push_back(at[axis]);
        }
        x.push_back(b_.add(first, at.back()));
        kernel.insert(kernel.end(), {at.back(), filter});
        return Pair{load(0, x, image_), load(1, kernel, kernel_)};
      });
    });
  }

  // Of each input the taps that an output meets it with, times the filters of the channel's group.
  void input_gradient() {
    for_rows(image_, filters_of_group_ * kernel_count(), [&](std::span<const Value> row, Value channel) {
      std::vector<RangeOf> ranges;
      for (const WindowAxis& axis : axes_)
        ranges.emplace_back([this, &axis](std::span<const Value>) { return IndexRange{b_.integer(0), axis.taps}; });
      ranges.emplace_back([this, row](std::span<const Value> taps) {
        Value is_met = b_.constant(Dtype::b8, int64_t{1});
        for (size_t axis = 0; axis < axes_.size(); ++axis)
          is_met = b_.binary(loop::Op::And, is_met, is_output(axis, row[axis + 1], taps[axis]));
        return IndexRange{b_.integer(0), b_.select(is_met, call_.size(filters_of_group_), b_.integer(0))};
      });
      const Value first = first_in_group(channel, channels_of_group_, filters_of_group_);
      const Value own = is_one_group_ ? channel : modulo(b_, channel, call_.size(channels_of_group_));
      return total(ranges, [&, first, own](std::span<const Value> at) {
        std::vector<Value> dy = {row[0]}, kernel;
        for (size_t axis = 0; axis < axes_.size(); ++axis) {
          dy.push_back(b_.floor_divide(strided(axis, row[axis + 1], at[axis]), axes_[axis].stride));
          kernel.push_back(at[axis]);
        }
        const Value filter = b_.add(first, at.back());
        dy.push_back(filter);
        kernel.insert(kernel.end(), {own, filter});
        return Pair{load(0, dy, result_), load(1, kernel, kernel_)};
      });
    });
  }

  // Of each tap and channel the outputs that meet the image there, of all images.
  void kernel_gradient() {
    Dim pixels = shapes_.images;
    for (const Dim& size : shapes_.outputs) pixels = pixels * size;
    for_rows(kernel_, pixels, [&](std::span<const Value> row, Value filter) {
      std::vector<RangeOf> ranges = {all_of(shapes_.images)};
      for (size_t axis = 0; axis < axes_.size(); ++axis)
        ranges.emplace_back([this, axis, row](std::span<const Value>) { return outputs_inside(b_, axes_[axis], row[axis]); });
      const Value channel = b_.add(first_in_group(filter, filters_of_group_, channels_of_group_), row.back());
      return total(ranges, [&, filter, channel](std::span<const Value> at) {
        std::vector<Value> x = {at[0]}, dy(at.begin(), at.end());
        for (size_t axis = 0; axis < axes_.size(); ++axis) x.push_back(met_input(b_, axes_[axis], at[axis + 1], row[axis]));
        x.push_back(channel);
        dy.push_back(filter);
        return Pair{load(0, x, image_), load(1, dy, result_)};
      });
    });
  }

 private:
  struct Pair {
    Value a, b;
  };

  Dim kernel_count() const {
    Dim count = 1;
    for (const Dim& taps : shapes_.taps) count = count * taps;
    return count;
  }

  std::vector<Value> values_of(const Shape& shape, int count) {
    std::vector<Value> sizes;
    for (int axis = 0; axis < count; ++axis) sizes.push_back(call_.size(shape[axis]));
    return sizes;
  }

  Value load(int operand, std::span<const Value> index, const Shape& shape) {
    return b_.load(call_.input(operand), ravel(b_, index, values_of(shape, shape.rank())));
  }

  RangeOf all_of(const Dim& size) {
    return [this, end = call_.size(size)](std::span<const Value>) { return IndexRange{b_.integer(0), end}; };
  }

  // The other side's first element of the group that an index is in.
  Value first_in_group(Value index, const Dim& own, const Dim& others) {
    if (is_one_group_) return b_.integer(0);
    return b_.multiply(b_.floor_divide(index, call_.size(own)), call_.size(others));
  }

  // Where a tap puts an input among strided outputs.
  Value strided(size_t axis, Value input, Value tap) {
    return b_.subtract(b_.add(input, axes_[axis].before), b_.multiply(tap, axes_[axis].dilation));
  }
  Value is_output(size_t axis, Value input, Value tap) {
    const Value place = strided(axis, input, tap), zero = b_.integer(0);
    const Value is_between = b_.equal(modulo(b_, place, axes_[axis].stride), zero);
    const Value is_inside = b_.less(b_.floor_divide(place, axes_[axis].stride), axes_[axis].output);
    return b_.binary(loop::Op::And, b_.binary(loop::Op::And, is_between, is_inside), b_.binary(loop::Op::LessEqual, zero, place));
  }

  Value total(std::span<const RangeOf> ranges, const std::function<Pair(std::span<const Value>)>& factors) {
    const Value zero[] = {b_.constant(type_, int64_t{0})};
    return carry_nest(b_, ranges, zero, [&](std::span<const Value> at, std::span<const Value> carried) -> std::vector<Value> {
      const Pair pair = factors(at);
      return {is_floating(type_) ? b_.fma(pair.a, pair.b, carried[0]) : b_.add(b_.multiply(pair.a, pair.b), carried[0])};
    })[0];
  }

  // Rows of the last axis of what is wanted, by the indices before it.
  void for_rows(const Shape& shape, const Dim& terms, const std::function<Value(std::span<const Value> row, Value column)>& element) {
    const int32_t target = call_.output(0);
    const std::vector<Value> sizes = values_of(shape, shape.rank() - 1);
    Dim rows = 1;
    for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows = rows * shape[axis];
    const Value columns = call_.size(shape[-1]), zero = b_.integer(0);
    b_.each(zero, call_.size(rows), b_.multiply(columns, call_.size(terms)), [&](Value at) {
      const std::vector<Value> row = unravel(b_, at, sizes);
      const Value begin = b_.multiply(at, columns);
      b_.elements(zero, columns, [&](Value column) { b_.store(target, b_.add(begin, column), element(row, column)); });
      call_.written({at, b_.add(at, b_.integer(1)), zero, columns});
    });
  }

  LowerCall& call_;
  loop::Builder& b_;
  const ConvolutionShapes& shapes_;
  Dtype type_;
  std::vector<WindowAxis> axes_;
  Shape image_, result_, kernel_;
  Dim channels_of_group_, filters_of_group_;
  bool is_one_group_;
};

void library_convolution(LowerCall& call, const ConvolutionShapes& shapes, const ConvolutionAttrs& attrs, Wanted wanted) {
  ConvolutionWork work{.wanted = wanted,
                       .sizes = {.images = shapes.images,
                                 .channels = shapes.channels,
                                 .filters = shapes.filters,
                                 .groups = at_least_one(attrs.groups),
                                 .slices = 1}};
  work.sizes.axes.fill({1, 1, 1, 1, 1, 0});
  const size_t none = work.sizes.axes.size() - shapes.taps.size();
  for (size_t axis = 0; axis < shapes.taps.size(); ++axis) {
    work.sizes.axes[none + axis] = {shapes.inputs[axis],         shapes.outputs[axis],         shapes.taps[axis],
                                    attrs.windows.strides[axis], attrs.windows.dilation[axis], attrs.windows.before[axis]};
  }
  std::vector<LowerCall::Scratch> scratch;
  if (wanted == Wanted::KernelGradient) {
    const Dim slices = convolution_slices(work.sizes), partial = slices * min(slices - 1, 1);  // one slice is summed where the result is
    work.sizes.slices = slices;
    if (!partial.same_as(0)) scratch.push_back({Dtype::f32, partial * call.outputs[0].shape.count()});
  }
  call.use_library(work, std::move(scratch));
}

}  // namespace

void lower_convolution(LowerCall& call, Wanted wanted) {
  const auto& attrs = call.call.attrs_as<ConvolutionAttrs>();
  const ConvolutionShapes shapes = convolution_shapes(call.call, wanted);
  if (call.outputs[0].dtype == Dtype::f32) return library_convolution(call, shapes, attrs, wanted);
  ConvolutionLoops loops(call, shapes, attrs);
  switch (wanted) {
    case Wanted::Result: return loops.result();
    case Wanted::InputGradient: return loops.input_gradient();
    case Wanted::KernelGradient: return loops.kernel_gradient();
  }
}

}  // namespace anyshape
