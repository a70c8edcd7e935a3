// Samples of convolutions: every window by itself, in double.
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape::check {
namespace {

enum class Form { Plain, Depthwise, Transposed };
struct ConvCase {
  Form form = Form::Plain;
  int64_t axes = 2;
  int64_t stride = 1;  // of the first axis; the others have 1, or 2 where it has 1 and `mixed`
  const char* padding = "valid";
  int64_t dilation = 1;
  int64_t groups = 1;
  bool around = false;  // explicit padding of 1 before and 2 behind instead
};
constexpr ConvCase conv_cases[] = {
    {.stride = 2, .padding = "same"},
    {},
    {.axes = 1, .padding = "causal", .dilation = 2},
    {.axes = 3, .stride = 2, .padding = "same"},
    {.stride = 2, .dilation = 2},
    {.padding = "same", .groups = 2},
    {.axes = 1, .stride = 3, .around = true},
    {.form = Form::Depthwise, .padding = "same"},
    {.form = Form::Depthwise, .stride = 2, .around = true},
    {.form = Form::Transposed, .stride = 2, .padding = "same"},
    {.form = Form::Transposed, .stride = 2},
    {.form = Form::Transposed, .axes = 1, .stride = 3},
};
constexpr int64_t before = 1, behind = 2;

Padding padding_of(const ConvCase& how) {
  return how.around ? Padding(std::vector<Padding::Ends>{{before, behind}}) : Padding(how.padding);
}
PerAxis strides_of(const ConvCase& how) {
  std::vector<int64_t> strides(static_cast<size_t>(how.axes), 1);
  strides[0] = how.stride;
  return PerAxis(strides);
}
int64_t stride_of(const ConvCase& how, size_t axis) { return axis == 0 ? how.stride : 1; }

std::vector<InputPlan> conv_inputs(Random& random, Dtype dtype, int number) {
  const ConvCase how = conv_cases[number];
  const auto few = [&](int64_t low, int64_t high) { return random.every >= 0 ? std::max(random.every, low) : random.between(low, high); };
  Sizes x = {few(0, random.smooth ? 2 : 3)}, kernel;
  for (int64_t axis = 0; axis < how.axes; ++axis) {
    const int64_t taps = few(1, random.smooth ? 2 : 4), span = (taps - 1) * how.dilation + 1;
    const bool fits = how.form != Form::Transposed && (how.around || std::string_view(how.padding) == "valid");
    const int64_t least = fits ? std::max<int64_t>(span - (how.around ? before + behind : 0), 0) : 0;
    x.push_back(std::max(few(0, random.smooth ? 3 : 7), least));
    kernel.push_back(taps);
  }
  const int64_t channels = few(0, random.smooth ? 2 : 5), filters = few(0, random.smooth ? 2 : 20);
  x.push_back(how.form == Form::Transposed ? filters : channels * how.groups);
  kernel.push_back(channels);
  kernel.push_back(how.form == Form::Depthwise ? few(0, 3) : filters * how.groups);
  return {{x, dtype, ordinary_numbers}, {kernel, dtype, ordinary_numbers}};
}

std::vector<Tensor> conv_call(Tensors in, int number) {
  const ConvCase how = conv_cases[number];
  switch (how.form) {
    case Form::Plain:
      return {conv(in[0], in[1], {.strides = strides_of(how), .padding = padding_of(how), .dilation = how.dilation, .groups = how.groups})};
    case Form::Depthwise:
      return {depthwise_conv(in[0], in[1], {.strides = strides_of(how), .padding = padding_of(how), .dilation = how.dilation})};
    case Form::Transposed:
      return {conv_transpose(in[0], in[1], {.strides = strides_of(how), .padding = padding_of(how), .dilation = how.dilation})};
  }
  return {};
}

// Along one axis: how many there are, and what stands before the first input.
struct Line {
  int64_t few, many;  // outputs and inputs of the convolution
  int64_t before;
};
Line line_of(const ConvCase& how, int64_t size, int64_t taps, size_t axis) {
  const int64_t stride = stride_of(how, axis), span = (taps - 1) * how.dilation + 1;
  const std::string_view padding = how.padding;
  if (how.around) return {(size + before + behind - span) / stride + 1, size, before};
  if (how.form == Form::Transposed) {
    const int64_t many = padding == "same" ? size * stride : size * stride + std::max<int64_t>(span - stride, 0);
    return {size, many, padding == "same" ? std::max<int64_t>((size - 1) * stride + span - many, 0) / 2 : 0};
  }
  if (padding == "valid") return {(size - span) / stride + 1, size, 0};
  const int64_t few = (size + stride - 1) / stride, total = std::max<int64_t>((few - 1) * stride + span - size, 0);
  return {few, size, padding == "causal" ? span - 1 : total / 2};
}

// Every tap of every output meets one input or none.
std::vector<Flat> conv_reference(Flats in, int number) {
  const ConvCase how = conv_cases[number];
  const Flat &x = in[0], &kernel = in[1];
  const bool transposed = how.form == Form::Transposed, depthwise = how.form == Form::Depthwise;
  const auto axes = static_cast<size_t>(how.axes);
  std::vector<Line> lines;
  Sizes few = {x.sizes[0]}, many = {x.sizes[0]}, taps;
  for (size_t axis = 0; axis < axes; ++axis) {
    taps.push_back(kernel.sizes[axis]);
    lines.push_back(line_of(how, x.sizes[axis + 1], taps.back(), axis));
    few.push_back(lines.back().few);
    many.push_back(lines.back().many);
  }
  const int64_t inner = kernel.sizes[axes], outer = kernel.sizes[axes + 1];
  Sizes sizes = transposed ? many : few;
  sizes.push_back(transposed ? inner : depthwise ? inner * outer : outer);
  Flat result = flat_from(x.dtype, sizes, [](const Sizes&) { return 0.0; });
  for (int64_t at = 0; at < count_of(few); ++at) {
    const Sizes output = unravel(at, few);
    for (int64_t tap = 0; tap < count_of(taps); ++tap) {
      Sizes place = unravel(tap, taps), input = output;
      bool is_inside = true;
      for (size_t axis = 0; axis < axes; ++axis) {
        input[axis + 1] = output[axis + 1] * stride_of(how, axis) + place[axis] * how.dilation - lines[axis].before;
        is_inside = is_inside && input[axis + 1] >= 0 && input[axis + 1] < lines[axis].many;
      }
      if (!is_inside) continue;
      for (int64_t c = 0; c < inner; ++c) {
        for (int64_t f = 0; f < outer; ++f) {
          Sizes from = input, to = output, weight = place;
          const int64_t group = how.groups == 1 ? 0 : f / (outer / how.groups);
          from.push_back(group * inner + c);
          to.push_back(depthwise ? c * outer + f : f);
          weight.insert(weight.end(), {c, f});
          if (transposed) std::swap(from, to);
          result.values[static_cast<size_t>(ravel(to, result.sizes))] +=
              x.values[static_cast<size_t>(ravel(from, x.sizes))] * kernel.values[static_cast<size_t>(ravel(weight, kernel.sizes))];
        }
      }
    }
  }
  return {std::move(result)};
}

}  // namespace

std::vector<OpSample> convolution_samples() {
  OpSample sample;
  sample.name = "conv, depthwise_conv and conv_transpose";
  sample.ops = {"convolution", "convolution_input_gradient", "convolution_kernel_gradient"};
  sample.call = conv_call;
  sample.dtypes = {f32, f64, i32};
  sample.cases = static_cast<int>(std::size(conv_cases));
  sample.inputs = conv_inputs;
  sample.reference = conv_reference;
  sample.f32 = {1e-5, 1e-4};
  sample.differentiable = {0, 1};
  sample.second_order = true;
  sample.same_bits = false;
  sample.wrong = {
      wrong<ShapeError>([] { return conv(ones({2, 5, 5, 3}), ones({3, 3, 4, 8})); },
                        {"conv: the image has 3 channels, the kernel takes 4: a is f32[2, 5, 5, 3], b is f32[3, 3, 4, 8]",
                         "expected kernel.shape[-2] * groups == x.shape[-1]"}),
      wrong<ShapeError>([] { return conv(ones({2, 5, 5, 4}), ones({3, 3, 3, 8}), {.groups = 2}); },
                        {"the image has 4 channels, the kernel takes 3 in each of 2 groups"}),
      wrong<ShapeError>([] { return conv(ones({2, 5, 5, 4}), ones({3, 3, 2, 7}), {.groups = 2}); },
                        {"7 filters do not go into 2 groups", "expected filters that are a multiple of groups"}),
      wrong<ShapeError>([] { return conv(ones({2, 5, 2, 3}), ones({3, 3, 3, 8})); },
                        {"conv: axis 2 has 2 elements, too few for 3 taps", "at least 3 elements, or padding \"same\""}),
      wrong<ShapeError>([] { return conv(ones({2, 5, 4, 3}), ones({3, 3, 3, 8}), {.dilation = 3}); },
                        {"axis 1 has 5 elements, too few for 3 taps spread over 7", "at least 7 elements"}),
      wrong<ShapeError>([] { return conv(ones({2, 1, 3}), ones({5, 3, 8}), {.padding = 1}); },
                        {"axis 1 has 1 elements and 2 of padding, too few for 5 taps", "at least 3 elements"}),
      wrong<ShapeError>([] { return conv(ones({5, 3}), ones({3, 8})); }, {"conv: x has rank 2", "one to three spatial axes"}),
      wrong<ShapeError>([] { return conv(ones({2, 5, 3}), ones({3, 3, 3, 8})); }, {"the kernel has rank 4, x has 3"}),
      wrong<ArgumentError>([] { return conv(ones({2, 5, 5, 3}), ones({3, 3, 3, 8}), {.strides = {2, 2, 2}}); },
                           {"conv: strides is [2, 2, 2]; expected one number, or one for each of 2 axes."}),
      wrong<ArgumentError>([] { return conv(ones({2, 5, 5, 3}), ones({3, 3, 3, 8}), {.strides = 0}); },
                           {"strides is 0; expected at least 1"}),
      wrong<ArgumentError>([] { return conv(ones({2, 5, 5, 3}), ones({3, 3, 3, 8}), {.padding = "causal"}); }, {"padding is \"causal\""}),
      wrong<ArgumentError>([] { return conv(ones({2, 5, 5, 3}), ones({3, 3, 3, 8}), {.groups = 0}); }, {"conv: groups is 0"}),
      wrong<ShapeError>([] { return depthwise_conv(ones({2, 5, 5, 3}), ones({3, 3, 4, 2})); },
                        {"depthwise_conv: the image has 3 channels, the kernel takes 1 in each of 4 groups"}),
      wrong<ShapeError>([] { return conv_transpose(ones({2, 5, 5, 3}), ones({3, 3, 4, 2})); },
                        {"conv_transpose: the image has 3 channels, the kernel 2 filters", "kernel.shape[-1] == x.shape[-1]"}),
      wrong<ArgumentError>([] { return conv_transpose(ones({2, 5, 3}), ones({3, 4, 3}), {.padding = 1}); },
                           {"conv_transpose: padding is 1"}),
      wrong<ArgumentError>([] { return conv_transpose(ones({2, 5, 3}), ones({3, 4, 3}), {.strides = 2, .output_padding = 2}); },
                           {"output_padding is 2 and the stride 2"}),
      wrong<ShapeError>([] { return conv(ragged({{1.0F}, {2.0F, 3.0F}}), ones({3, 1, 1})); }, {"conv: x or the kernel is ragged"}),
      wrong<ArgumentError>([] { return conv(Tensor(), ones({3, 3, 3, 8})); }, {"expected a tensor with a value"}),
  };
  return {sample};
}

}  // namespace anyshape::check
