// Fuzzed ops on images: strides, padding and kernels of every kind, right and wrong.
#include "check/fuzz_table.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape::check {
namespace {

using In = std::span<const Tensor>;
using Out = std::vector<Tensor>;

// Small, or beyond what can be counted; never a number that a machine might have.
int64_t step(FuzzBytes& bytes) {
  const int64_t value = bytes.chance(4) ? std::numeric_limits<int64_t>::max() : bytes.below(5) - (bytes.chance(10) ? 2 : 0);
  bytes.say(fmt::format("step {}", value));
  return value;
}

PerAxis per_axis(FuzzBytes& bytes) {
  std::vector<int64_t> numbers;
  for (int64_t count = bytes.chance(50) ? 1 : bytes.below(5); count > 0; --count) numbers.push_back(step(bytes));
  return PerAxis(numbers);
}

Padding padding(FuzzBytes& bytes) {
  const int64_t kind = bytes.below(6);
  bytes.say(fmt::format("padding {}", kind));
  if (kind < 2) return "same";
  if (kind == 2) return "valid";
  if (kind == 3) return "causal";
  std::vector<Padding::Ends> ends;
  for (int64_t count = kind == 4 ? 1 : bytes.below(5); count > 0; --count) ends.emplace_back(step(bytes), step(bytes));
  return Padding(ends);
}

// Of x's rank, with x's channels where the kernel is to have them; mostly.
Tensor kernel_for(FuzzBytes& bytes, const Tensor& x, bool is_last) {
  if (!x.defined() || x.rank() < 2 || bytes.chance(20)) return bytes.tensor();
  Sizes sizes;
  for (int axis = 0; axis + 2 < x.rank(); ++axis) sizes.push_back(bytes.value_below(4));
  const int64_t channels = x.shape()[-1].value();
  const int64_t own[] = {is_last ? bytes.value_below(4) : channels, is_last ? channels : bytes.value_below(4)};
  sizes.insert(sizes.end(), std::begin(own), std::end(own));
  Random random(bytes.value_seed());
  bytes.say("kernel " + to_string(sizes));
  return draw_tensor(random, bytes.chance(70) ? x.dtype() : bytes.dtype(), sizes, {.low = 0});
}

FuzzCall decode_conv(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const ConvOptions options{.strides = per_axis(bytes), .padding = padding(bytes), .dilation = per_axis(bytes), .groups = step(bytes)};
  return {{x, kernel_for(bytes, x, false)}, [options](In in) { return Out{conv(in[0], in[1], options)}; }};
}

FuzzCall decode_depthwise_conv(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const DepthwiseConvOptions options{.strides = per_axis(bytes), .padding = padding(bytes), .dilation = per_axis(bytes)};
  return {{x, kernel_for(bytes, x, false)}, [options](In in) { return Out{depthwise_conv(in[0], in[1], options)}; }};
}

FuzzCall decode_conv_transpose(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  ConvTransposeOptions options{.strides = per_axis(bytes), .padding = padding(bytes), .dilation = per_axis(bytes)};
  if (bytes.chance(30)) options.output_padding = per_axis(bytes);
  return {{x, kernel_for(bytes, x, true)}, [options](In in) { return Out{conv_transpose(in[0], in[1], options)}; }};
}

template <Tensor (*op)(const Tensor&, const PerAxis&, PoolOptions)>
FuzzCall pool(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const PerAxis window = per_axis(bytes);
  PoolOptions options{.strides = {}, .padding = padding(bytes)};
  if (bytes.chance(60)) options.strides = per_axis(bytes);
  return {{x}, [=](In in) { return Out{op(in[0], window, options)}; }};
}

template <Tensor (*op)(const Tensor&, const PerAxis&)>
FuzzCall with_numbers(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const PerAxis numbers = per_axis(bytes);
  return {{x}, [=](In in) { return Out{op(in[0], numbers)}; }};
}

template <Tensor (*op)(const Tensor&, const Padding&)>
FuzzCall with_ends(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const Padding ends = padding(bytes);
  return {{x}, [=](In in) { return Out{op(in[0], ends)}; }};
}

Interpolation interpolation(FuzzBytes& bytes) { return bytes.chance(40) ? Interpolation::Nearest : Interpolation::Bilinear; }

FuzzCall decode_resize(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  Shape sizes;
  for (int64_t count = bytes.chance(90) ? 2 : bytes.below(4); count > 0; --count) sizes.push_back(step(bytes));
  const ResizeOptions options{.interpolation = interpolation(bytes), .antialias = bytes.chance(30)};
  return {{x}, [=](In in) { return Out{resize(in[0], sizes, options)}; }};
}

FuzzCall decode_upsample(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const PerAxis factors = per_axis(bytes);
  const Interpolation between = interpolation(bytes);
  return {{x}, [=](In in) { return Out{upsample(in[0], factors, between)}; }};
}

}  // namespace

std::vector<FuzzOp> image_fuzz_ops() {
  return {
      {"conv", decode_conv},
      {"depthwise_conv", decode_depthwise_conv},
      {"conv_transpose", decode_conv_transpose},
      {"max_pool", pool<max_pool>},
      {"average_pool", pool<average_pool>},
      {"adaptive_max_pool", with_numbers<adaptive_max_pool>},
      {"adaptive_average_pool", with_numbers<adaptive_average_pool>},
      {"resize", decode_resize},
      {"upsample", decode_upsample},
      {"zero_pad", with_ends<zero_pad>},
      {"crop", with_ends<crop>},
  };
}

}  // namespace anyshape::check
