// ONNX's pictures looked at between their elements: at the points of a grid, and the grid that an affine map gives.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

enum class Outside : uint8_t { Zeros, Border, Reflection };

// One axis of the picture: its size, and between which numbers it is mirrored.
struct Axis {
  Tensor size, lowest, highest;  // f32 scalars

  Axis(const Dim& length, bool align_corners) : size(cast(Value::size(length).tensor(), f32)) {
    lowest = full({}, align_corners ? 0.0 : -0.5, {.dtype = f32});
    highest = size - (align_corners ? 1.0 : 0.5);
  }
  Tensor clamped(const Tensor& x) const { return maximum(minimum(x, size - 1), 0); }
  // Mirrored at both ends until it lies between them.
  Tensor reflected(const Tensor& x) const {
    const Tensor range = maximum(highest - lowest, 1e-6F), is_below = x < lowest, distance = where(is_below, lowest - x, x - highest);
    const Tensor times = floor(distance / range), rest = distance - times * range;
    const Tensor mirrored = where(is_below == (remainder(times, 2) == 0), lowest + rest, highest - rest);
    return where(logical_or(is_below, x > highest), mirrored, x);
  }
  Tensor brought_inside(const Tensor& x, Outside outside) const {
    if (outside == Outside::Zeros) return x;
    if (outside == Outside::Reflection) return reflected(x);
    return where(logical_or(x<lowest, x> highest), clamped(x), x);
  }
};

// An element along an axis that a point is made of, and how much it counts.
struct Tap {
  Tensor index, weight;  // i64, f32
};
Tap tap_at(const Axis& axis, const Tensor& place, const Tensor& weight, Outside outside) {
  const Tensor moved = outside == Outside::Reflection ? trunc(axis.reflected(place)) : place, inside = axis.clamped(moved);
  return {cast(inside, i64), outside == Outside::Zeros ? where(inside == place, weight, 0) : weight};
}

// Keys's cubic of that distance, with a slope of -0.75.
Tensor cubic(const Tensor& distance, bool is_near) {
  const double a = -0.75;
  if (is_near) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
}

std::vector<Tap> taps_along(const Axis& axis, const Tensor& given, const std::string& mode, Outside outside) {
  const Tensor place = axis.brought_inside(mode == "nearest" ? round(given) : given, outside);
  if (mode == "nearest") return {tap_at(axis, place, ones_like(place), outside)};
  const Tensor first = floor(place), part = place - first;
  if (mode == "linear") return {tap_at(axis, first, 1 - part, outside), tap_at(axis, first + 1, part, outside)};
  return {tap_at(axis, first - 1, cubic(part + 1, false), outside), tap_at(axis, first, cubic(part, true), outside),
          tap_at(axis, first + 1, cubic(1 - part, true), outside), tap_at(axis, first + 2, cubic(2 - part, false), outside)};
}

Outside outside_of(NodeCall& call) {
  const std::string mode = call.text("padding_mode", "zeros");
  if (mode == "zeros") return Outside::Zeros;
  if (mode == "border") return Outside::Border;
  if (mode == "reflection") return Outside::Reflection;
  call.fail(fmt::format("padding_mode is \"{}\"", mode), "zeros, border or reflection");
}

// Points run from -1 to 1, the last axis of the picture first.
Results grid_sample_rule(NodeCall& call) {
  const Tensor picture = call.value(0).image(), grid = cast(call.tensor(1), f32);
  const int axes = picture.rank() - 2;
  if (grid.rank() != axes + 2)
    call.fail(fmt::format("a grid of rank {} for a picture of rank {}", grid.rank(), picture.rank()), "the same rank");
  const bool align_corners = call.flag("align_corners");
  std::string mode = call.text("mode", call.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  if (mode != "linear" && mode != "nearest" && mode != "cubic") call.fail(fmt::format("mode is \"{}\"", mode), "linear, nearest or cubic");
  if (mode == "cubic" && axes > 2) call.unsupported("cubic sampling of more than two axes");
  const Outside outside = outside_of(call);

  Dim points = 1, elements = 1;
  for (int axis = 0; axis < axes; ++axis) points = points * grid.shape()[axis + 1], elements = elements * picture.shape()[axis + 1];
  const Dim batch = picture.shape()[0], channels = picture.shape()[-1];
  const Tensor flat = reshape(picture, {batch, elements, channels}), flat_grid = reshape(grid, {grid.shape()[0], points, axes});
  // All taps of the axes so far: the number of an element, and its weight.
  std::vector<Tap> taps;
  for (int axis = 0; axis < axes; ++axis) {
    const Dim length = picture.shape()[axis + 1];
    const Axis along(length, align_corners);
    const Tensor number = flat_grid.at(whole, whole, axes - 1 - axis);
    const Tensor place = align_corners ? (number + 1) / 2 * (along.size - 1) : ((number + 1) * along.size - 1) / 2;
    std::vector<Tap> next;
    for (const Tap& tap : taps_along(along, place, mode, outside)) {
      if (taps.empty()) next.push_back(tap);
      for (const Tap& before : taps) next.push_back({before.index * Value::size(length).tensor() + tap.index, before.weight * tap.weight});
    }
    taps = std::move(next);
  }
  Tensor total;
  for (const Tap& tap : taps) {
    const Tensor part = cast(take(flat, tap.index, {.axis = 1, .batch_dims = 1}), f32) * expand_dims(tap.weight, -1);
    total = total.defined() ? total + part : part;
  }
  Shape shape{batch};
  for (int axis = 0; axis < axes; ++axis) shape.push_back(grid.shape()[axis + 1]);
  shape.push_back(channels);
  return Value::image(reshape(cast(total, picture.dtype()), shape));
}

// Points of a picture of that size, each a vector [x, y, (z,) 1] times the map.
Results affine_grid_rule(NodeCall& call) {
  const Tensor map = call.tensor(0);
  const std::vector<Dim> size = call.sizes(1);
  const int axes = static_cast<int>(size.size()) - 2;
  if ((axes != 2 && axes != 3) || map.rank() != 3)
    call.fail(fmt::format("a size of {} numbers", size.size()), "[batch, channels, space...] of two or three axes");
  const std::vector<Dim> space(size.begin() + 2, size.end());
  std::vector<Tensor> coordinates;
  for (int axis = axes - 1; axis >= 0; --axis) {
    const Dim& length = space[static_cast<size_t>(axis)];
    const Tensor count = cast(Value::size(length).tensor(), f64), index = arange(length, {.dtype = f64});
    const Tensor along = call.flag("align_corners") ? index * 2 / maximum(count - 1, 1) - 1 : (index * 2 + 1) / count - 1;
    Shape shape;
    for (int each = 0; each < axes; ++each) shape.push_back(each == axis ? length : Dim(1));
    coordinates.push_back(broadcast_to(reshape(cast(along, map.dtype()), shape), Shape(space)));
  }
  coordinates.push_back(ones(Shape(space), {.dtype = map.dtype()}));
  const Tensor all = reshape(stack(coordinates, {.axis = -1}), {Shape(space).count(), axes + 1});
  const Tensor grid = matmul(all, map, {.transpose_b = true});
  Shape shape{map.shape()[0]};
  for (const Dim& length : space) shape.push_back(length);
  shape.push_back(axes);
  return reshape(grid, shape);
}

constexpr RuleEntry entries[] = {{"GridSample", 16, grid_sample_rule, {.takes_images = true}}, {"AffineGrid", 20, affine_grid_rule}};

}  // namespace

const RuleTable sampling_rules = entries;

}  // namespace anyshape::onnx
