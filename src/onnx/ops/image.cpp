// ONNX's convolutions and pools. They take and give images channels last (Value::image), so that nothing is moved between them.
#include "graph/bind.h"
#include "onnx/rule.h"
#include "onnx/windows.h"
#include "ops/image/convolution.h"
#include "ops/image/pool.h"
#include "ops/source/size.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions on_images{.takes_images = true};

void require_image(const NodeCall& call) {
  if (call.rank(0) < 3 || call.rank(0) > 5) call.unsupported(fmt::format("an input of rank {}", call.rank(0)));
}

std::vector<Dim> taps_of(const NodeCall& call, const Tensor& kernel) {
  std::vector<Dim> taps;
  for (int axis = 0; axis + 2 < kernel.rank(); ++axis) taps.push_back(kernel.shape()[axis]);
  if (call.has("kernel_shape")) {
    const std::vector<int64_t> told = per_axis(call, "kernel_shape", taps.size(), 1);
    for (size_t axis = 0; axis < taps.size(); ++axis) {
      if (taps[axis].is_constant() && taps[axis].value() != told[axis]) {
        call.fail(fmt::format("the kernel has {} taps along axis {} and kernel_shape says {}", to_string(taps[axis]), axis, told[axis]),
                  "equal numbers");
      }
    }
  }
  return taps;
}

Results with_bias(const NodeCall& call, const Tensor& image) { return Value::image(call.has(2) ? image + call.tensor(2) : image); }

Results conv_rule(NodeCall& call) {
  require_image(call);
  const Tensor x = call.value(0).image(), kernel = call.value(1).kernel();
  if (kernel.rank() != x.rank()) call.fail(fmt::format("the kernel has rank {} and the input {}", kernel.rank(), x.rank()), "equal ranks");
  WindowPlace windows = windows_of(call, x.shape(), taps_of(call, kernel));
  return with_bias(
      call,
      bind(convolution_op, {x, kernel},
           ConvolutionAttrs{.windows = std::move(windows.attrs), .sizes = std::move(windows.outputs), .groups = call.integer("group", 1)}));
}

// The gradient of a convolution with respect to its input.
Results conv_transpose_rule(NodeCall& call) {
  require_image(call);
  const Tensor x = call.value(0).image(), kernel = call.value(1).kernel();
  if (kernel.rank() != x.rank()) call.fail(fmt::format("the kernel has rank {} and the input {}", kernel.rank(), x.rank()), "equal ranks");
  const std::vector<Dim> taps = taps_of(call, kernel);
  const size_t axes = taps.size();
  const std::vector<int64_t> strides = per_axis(call, "strides", axes, 1), dilation = per_axis(call, "dilations", axes, 1),
                             more = per_axis(call, "output_padding", axes, 0, 0), wanted = call.integers("output_shape");
  const std::string place = call.text("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = call.integers("pads", std::vector<int64_t>(2 * axes, 0));
  if (pads.size() != 2 * axes) call.fail("attribute \"pads\" has another number of numbers", "two for each axis");
  ConvolutionAttrs attrs{.windows = {}, .sizes = {}, .groups = call.integer("group", 1)};
  for (size_t axis = 0; axis < axes; ++axis) {
    const Dim inputs = x.shape()[static_cast<int>(axis) + 1];
    const Dim whole = (inputs - 1) * strides[axis] + more[axis] + span_of(taps[axis], dilation[axis]);
    Dim before = pads[axis], size = whole - pads[axis] - pads[axis + axes];
    const bool is_same = place.starts_with("SAME");
    if (!wanted.empty() || is_same) {
      const size_t skipped = wanted.size() == axes + 2 ? 2 : 0;  // some write the batch and the channels, too
      if (!wanted.empty() && wanted.size() != axes + skipped)
        call.fail("attribute \"output_shape\" has another number of sizes", "one for each axis");
      size = wanted.empty() ? inputs * strides[axis] : Dim(wanted[axis + skipped]);
      const Dim all = whole - size;
      before = place == "SAME_UPPER" ? all / 2 : all - all / 2;
    }
    attrs.windows.strides.emplace_back(strides[axis]);
    attrs.windows.dilation.emplace_back(dilation[axis]);
    attrs.windows.before.push_back(before);
    attrs.sizes.push_back(size);
  }
  return with_bias(call, bind(convolution_input_gradient_op, {x, kernel}, std::move(attrs)));
}

std::vector<Dim> window_of(const NodeCall& call) {
  std::vector<Dim> taps;
  const auto axes = static_cast<size_t>(call.rank(0) - 2);
  if (!call.has("kernel_shape")) call.fail("attribute \"kernel_shape\" is missing", "the window's sizes");
  for (const int64_t size : per_axis(call, "kernel_shape", axes, 1)) taps.emplace_back(size);
  return taps;
}

Tensor padded(const Tensor& image, const WindowPlace& windows, const Tensor& value) {
  std::vector<PadWidth> widths(1);
  for (size_t axis = 0; axis < windows.behind.size(); ++axis)
    widths.push_back({.before = windows.attrs.before[axis], .after = windows.behind[axis]});
  return pad(image, widths, {.mode = PadMode::Constant, .value = value});
}

// The same windows on an image that has its padding.
WindowPlace on_padded(WindowPlace windows) {
  for (Dim& before : windows.attrs.before) before = 0;
  windows.attrs.padding.clear();
  return windows;
}

bool is_dilated(const WindowPlace& windows) {
  return std::ranges::any_of(windows.attrs.dilation, [](const Dim& dilation) { return dilation.value() != 1; });
}

// With as much behind as windows reach.
WindowPlace with_room(WindowPlace windows, const Tensor& image, const std::vector<Dim>& taps) {
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const Dim needed = (windows.outputs[axis] - 1) * windows.attrs.strides[axis] + span_of(taps[axis], windows.attrs.dilation[axis]);
    windows.behind[axis] = max(needed - image.shape()[static_cast<int>(axis) + 1] - windows.attrs.before[axis], 0);
  }
  return windows;
}

PoolAttrs pool_attrs(const WindowPlace& windows, const std::vector<Dim>& taps) {
  PoolAttrs attrs;
  attrs.windows = windows.attrs;
  attrs.taps = taps;
  attrs.sizes = windows.outputs;
  return attrs;
}

// Windows with gaps as windows side by side: what each meets is put together, with `value` around the image.
struct Gathered {
  Tensor image;
  PoolAttrs attrs;
};
Gathered gathered(const Tensor& image, const WindowPlace& given, const std::vector<Dim>& taps, const Tensor& value) {
  const WindowPlace windows = with_room(given, image, taps);
  Gathered result{.image = padded(image, windows, value), .attrs = pool_attrs(windows, taps)};
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const Tensor begins = reshape(arange(windows.outputs[axis], {.dtype = Dtype::i64}) * windows.attrs.strides[axis].value(), {-1, 1});
    const Tensor steps = arange(taps[axis], {.dtype = Dtype::i64}) * windows.attrs.dilation[axis].value();
    result.image = take(result.image, reshape(begins + steps, {-1}), {.axis = static_cast<int64_t>(axis) + 1});
    result.attrs.windows.strides[axis] = taps[axis];
    result.attrs.windows.dilation[axis] = 1;
    result.attrs.windows.before[axis] = 0;
  }
  result.attrs.windows.padding.clear();
  return result;
}

// The mean over all taps, those in the padding included.
Tensor mean_of_taps(const Tensor& image, const WindowPlace& windows, const std::vector<Dim>& taps) {
  Gathered all = gathered(image, windows, taps, 0);
  return bind(average_pool_op, {all.image}, std::move(all.attrs));
}

// The mean of the real elements of each window.
Tensor average(const Tensor& image, const WindowPlace& windows, const std::vector<Dim>& taps) {
  if (is_dilated(windows)) {
    Shape one = image.shape();
    one[0] = 1;
    one[-1] = 1;
    return mean_of_taps(image, windows, taps) / mean_of_taps(ones(one, {.dtype = image.dtype()}), windows, taps);
  }
  return bind(average_pool_op, {image}, pool_attrs(windows, taps));
}

Results average_pool_rule(NodeCall& call) {
  require_image(call);
  const std::vector<Dim> taps = window_of(call);
  const Tensor image = call.value(0).image();
  const WindowPlace windows = windows_of(call, image.shape(), taps, call.flag("ceil_mode"));
  if (!call.flag("count_include_pad")) return Value::image(average(image, windows, taps));
  return Value::image(average(padded(image, windows, 0), on_padded(windows), taps));
}

// Where each maximum stands in ONNX's order of the whole input.
Tensor places_of(const NodeCall& call, const Tensor& image, const Tensor& pixels) {
  const Shape shape = image.shape();
  Dim count = 1;
  for (int axis = 1; axis + 1 < shape.rank(); ++axis) count = count * shape[axis];
  Tensor place = cast(pixels, Dtype::i64);
  if (call.integer("storage_order", 0) == 1) {  // the first spatial axis runs fastest
    Tensor rest = place, turned = zeros_like(place);
    for (int axis = shape.rank() - 2; axis >= 1; --axis) {
      Dim distance = 1;
      for (int before = 1; before < axis; ++before) distance = distance * shape[before];
      const Tensor size = size_tensor(shape[axis], Dtype::i64);
      turned = turned + rest % size * size_tensor(distance, Dtype::i64);
      rest = floor_divide(rest, size);
    }
    place = turned;
  }
  Shape planes{shape[0]};
  for (int axis = 1; axis + 1 < shape.rank(); ++axis) planes.push_back(1);
  planes.push_back(shape[-1]);
  return place + reshape(arange(shape[0] * shape[-1], {.dtype = Dtype::i64}) * size_tensor(count, Dtype::i64), planes);
}

// The greatest of each window, and which pixel of its image it is.
std::vector<Tensor> dilated_maximum(const Tensor& image, const WindowPlace& windows, const std::vector<Dim>& taps) {
  const Tensor lowest = is_floating(image.dtype())   ? Tensor(-INFINITY)
                        : image.dtype() == Dtype::u8 ? Tensor(0)
                                                     : Tensor(std::numeric_limits<int32_t>::min());
  const Gathered all = gathered(image, windows, taps, lowest);
  std::vector<Tensor> results = bind_all(max_pool_op, std::vector<Tensor>{all.image}, all.attrs);
  Tensor rest = cast(results[1], Dtype::i64), pixel = zeros_like(rest);
  Dim distance = 1;
  for (size_t axis = taps.size(); axis-- > 0;) {
    const Tensor size = size_tensor(all.image.shape()[static_cast<int>(axis) + 1], Dtype::i64), number = rest % size;
    const Tensor place = floor_divide(number, taps[axis].value()) * windows.attrs.strides[axis].value() +
                         number % taps[axis].value() * windows.attrs.dilation[axis].value() -
                         size_tensor(windows.attrs.before[axis], Dtype::i64);
    pixel = pixel + place * size_tensor(distance, Dtype::i64);
    rest = floor_divide(rest, size);
    distance = distance * image.shape()[static_cast<int>(axis) + 1];
  }
  return {results[0], pixel};
}

Results max_pool_rule(NodeCall& call) {
  require_image(call);
  const std::vector<Dim> taps = window_of(call);
  const Tensor image = call.value(0).image();
  const WindowPlace windows = windows_of(call, image.shape(), taps, call.flag("ceil_mode"));
  const std::vector<Tensor> results = is_dilated(windows) ? dilated_maximum(image, windows, taps)
                                                          : bind_all(max_pool_op, std::vector<Tensor>{image}, pool_attrs(windows, taps));
  if (!call.wants(1)) return Value::image(results[0]);
  return {Value::image(results[0]), Value::image(places_of(call, image, results[1]))};
}

// The p-th root of the sum of p-th powers.
Tensor to_power(const Tensor& x, int64_t p) { return p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), static_cast<double>(p)); }
Tensor root(const Tensor& x, int64_t p) { return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1.0 / static_cast<double>(p)); }

Results lp_pool_rule(NodeCall& call) {
  require_image(call);
  const std::vector<Dim> taps = window_of(call);
  const int64_t p = call.integer("p", 2);
  const Tensor image = to_power(call.value(0).image(), p);
  const WindowPlace windows = windows_of(call, image.shape(), taps, call.flag("ceil_mode"));
  double count = 1;
  for (const Dim& tap : taps) count *= static_cast<double>(tap.value());
  return Value::image(root(mean_of_taps(image, windows, taps) * count, p));
}

Axes spatial(const Tensor& image) {
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis + 1 < image.rank(); ++axis) axes.push_back(axis);
  return axes;
}

Results global_average_pool_rule(NodeCall& call) {
  const Tensor image = call.value(0).image();
  return Value::image(mean(image, {.axes = spatial(image), .keep_dims = true}));
}
Results global_max_pool_rule(NodeCall& call) {
  const Tensor image = call.value(0).image();
  return Value::image(max(image, {.axes = spatial(image), .keep_dims = true}));
}
Results global_lp_pool_rule(NodeCall& call) {
  const Tensor image = call.value(0).image();
  const int64_t p = call.integer("p", 2);
  return Value::image(root(sum(to_power(image, p), {.axes = spatial(image), .keep_dims = true}), p));
}

// Where the maxima came from, with zeros around them.
Results max_unpool_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  const Shape shape = x.shape();
  Shape result{shape[0], shape[1]};
  const std::vector<Dim> taps = window_of(call);
  const std::vector<int64_t> strides = per_axis(call, "strides", taps.size(), 1), pads = per_axis(call, "pads", 2 * taps.size(), 0, 0);
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    result.push_back((shape[static_cast<int>(axis) + 2] - 1) * strides[axis] - pads[axis] - pads[axis + taps.size()] + taps[axis]);
  }
  const Tensor flat_indices = reshape(indices, {-1, 1});
  if (!call.has(2)) return reshape(scatter(flat_indices, reshape(x, {-1}), {result.count()}), result);
  // The indices are those of the smaller result; it is put into the larger one's corner.
  const std::vector<Dim> wanted = call.sizes(2);
  if (wanted.size() != static_cast<size_t>(result.rank())) call.fail("the output's shape has another rank", "the input's");
  const Tensor inner = reshape(scatter(flat_indices, reshape(x, {-1}), {result.count()}), result);
  std::vector<PadWidth> widths;
  for (int axis = 0; axis < result.rank(); ++axis)
    widths.push_back({.before = 0, .after = wanted[static_cast<size_t>(axis)] - result[axis]});
  return pad(inner, widths);
}

// The side of a block of pixels, as a size: its square cannot overflow, whatever a file says.
Dim block_of(const NodeCall& call, const Tensor& x) {
  if (x.rank() != 4) call.fail(fmt::format("the input has rank {}", x.rank()), "4");
  const int64_t side = call.integer("blocksize");
  if (side < 1) call.fail(fmt::format("blocksize is {}", side), "at least 1");
  return side;
}

Results depth_to_space_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const Dim b = block_of(call, x);
  const Shape s = x.shape();
  const Dim channels = s[1] / (b * b);
  const bool is_dcr = call.text("mode", "DCR") == "DCR";
  const Tensor parts = is_dcr ? transpose(reshape(x, {s[0], b, b, channels, s[2], s[3]}), {0, 3, 4, 1, 5, 2})
                              : transpose(reshape(x, {s[0], channels, b, b, s[2], s[3]}), {0, 1, 4, 2, 5, 3});
  return reshape(parts, {s[0], channels, s[2] * b, s[3] * b});
}

Results space_to_depth_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const Dim b = block_of(call, x);
  const Shape s = x.shape();
  const Tensor parts = transpose(reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b}), {0, 3, 5, 1, 2, 4});
  if (call.text("mode", "DCR") == "CRD") return reshape(transpose(parts, {0, 3, 1, 2, 4, 5}), {s[0], s[1] * (b * b), s[2] / b, s[3] / b});
  return reshape(parts, {s[0], s[1] * (b * b), s[2] / b, s[3] / b});
}

constexpr RuleEntry entries[] = {
    {"Conv", 1, conv_rule, on_images},
    {"ConvTranspose", 1, conv_transpose_rule, on_images},
    {"AveragePool", 1, average_pool_rule, on_images},
    {"MaxPool", 1, max_pool_rule, on_images},
    {"LpPool", 2, lp_pool_rule, on_images},
    {"GlobalAveragePool", 1, global_average_pool_rule, on_images},
    {"GlobalMaxPool", 1, global_max_pool_rule, on_images},
    {"GlobalLpPool", 2, global_lp_pool_rule, on_images},
    {"MaxUnpool", 9, max_unpool_rule},
    {"DepthToSpace", 1, depth_to_space_rule},
    {"SpaceToDepth", 1, space_to_depth_rule},
};

}  // namespace

const RuleTable image_rules = entries;

}  // namespace anyshape::onnx
