// Col2Im: columns [batch, channels * block, blocks] are added up in the picture whose blocks they are.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

// Numbers of an attribute, one per axis of space.
std::vector<int64_t> per_axis(NodeCall& call, std::string_view name, size_t count, int64_t otherwise, int64_t least) {
  std::vector<int64_t> numbers = call.integers(name);
  if (numbers.empty()) numbers.assign(count, otherwise);
  for (const int64_t number : numbers) {
    if (number < least || number > 1 << 20) call.fail(fmt::format("{} holds {}", name, number), fmt::format("numbers from {} on", least));
  }
  if (numbers.size() != count) call.fail(fmt::format("{} has {} numbers", name, numbers.size()), fmt::format("{}", count));
  return numbers;
}

Results col2im_rule(NodeCall& call) {
  const Tensor columns = call.tensor(0);
  const std::vector<Dim> image = call.sizes(1);
  const std::vector<int64_t> block = call.integers(2);
  const size_t axes = image.size();
  if (columns.rank() != 3 || block.size() != axes || axes == 0 || axes > 4)
    call.fail("its inputs do not fit each other",
              "columns [batch, channels * block, blocks], and as many sizes of the image as of a block");
  const std::vector<int64_t> strides = per_axis(call, "strides", axes, 1, 1), dilations = per_axis(call, "dilations", axes, 1, 1),
                             pads = per_axis(call, "pads", 2 * axes, 0, 0);
  int64_t taps = 1;
  for (const int64_t size : block) {
    if (size < 1 || size > 64 || (taps *= size) > 1024) call.unsupported("a block of more than 1024 elements");
  }
  // How many blocks there are along each axis, and the image with its border.
  const Dim batch = columns.shape()[0], channels = columns.shape()[1] / taps;
  Shape apart{batch, channels, taps}, whole_image{batch, channels};
  for (size_t axis = 0; axis < axes; ++axis) {
    const Dim padded = image[axis] + (pads[axis] + pads[axes + axis]);
    apart.push_back((padded - (dilations[axis] * (block[axis] - 1) + 1)) / strides[axis] + 1);
    whole_image.push_back(padded);
  }
  const Tensor parts = reshape(columns, apart);
  Tensor result = zeros(whole_image, {.dtype = columns.dtype()});
  for (int64_t tap = 0; tap < taps; ++tap) {
    Indices target;
    target.axes.assign(2, Index());
    std::vector<SliceRange> ranges(2);
    int64_t rest = tap;
    std::vector<int64_t> begin(axes);
    for (size_t axis = axes; axis-- > 0;) {
      begin[axis] = rest % block[axis] * dilations[axis];
      rest /= block[axis];
    }
    for (size_t axis = 0; axis < axes; ++axis) {
      const Dim end = (apart[static_cast<int>(axis) + 3] - 1) * strides[axis] + (begin[axis] + 1);
      target.axes.emplace_back(begin[axis], end, strides[axis]);
      ranges.push_back({.begin = begin[axis], .end = end, .step = strides[axis]});
    }
    result = updated(result, target, slice(result, ranges) + parts.at(whole, whole, tap));
  }
  std::vector<SliceRange> inside(2);
  for (size_t axis = 0; axis < axes; ++axis) inside.push_back({.begin = pads[axis], .end = pads[axis] + image[axis]});
  return slice(result, inside);
}

constexpr RuleEntry entries[] = {{"Col2Im", 18, col2im_rule}};

}  // namespace

const RuleTable col2im_rules = entries;

}  // namespace anyshape::onnx
