// Inputs and options of layers along spatial axes.
#include "nn/layers/spatial.h"

#include "graph/layer_path.h"
#include "nn/layer_state.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace anyshape::nn {
namespace {

constexpr std::array expected = {"[batch, time, channels]", "[batch, height, width, channels]", "[batch, depth, height, width, channels]"};

bool is_any_above_one(const std::vector<int64_t>& numbers) {
  return std::ranges::any_of(numbers, [](int64_t number) { return number > 1; });
}

}  // namespace

std::string spatial_type(const char* family, int axes, const char* behind) { return fmt::format("{}{}D{}", family, axes, behind); }

void require_spatial(const Layer& layer, const Tensor& x, int axes) {
  const char* const wanted = expected[static_cast<size_t>(axes - 1)];
  if (x.is_ragged()) {
    throw ShapeError(fmt::format(
        "{}: x is {}; expected a dense tensor {}. Neighbours in rows of unequal length have no common grid: use to_padded, or put "
        "rows of one size into a batch.{}",
        type_of(layer), describe(x), wanted, current_place()));
  }
  if (x.rank() == axes + 2) return;
  throw ShapeError(fmt::format("{}: x is {}; expected {}.{}", type_of(layer), describe(x), wanted, current_place()));
}

void require_one_of(const std::string& type, const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation) {
  if (!is_any_above_one(strides) || !is_any_above_one(dilation)) return;
  throw ArgumentError(fmt::format("{}: strides is [{}] and dilation_rate is [{}]; expected 1 for one of them.", type,
                                  fmt::join(strides, ", "), fmt::join(dilation, ", ")));
}

void require_padding(const std::string& type, const Padding& padding, int axes) {
  if (padding.kind() == Padding::Kind::Explicit) {
    static_cast<void>(padding.along(axes, type));
  } else if (padding.kind() == Padding::Kind::Causal && axes != 1) {
    throw ArgumentError(
        fmt::format("{}: padding is \"causal\"; expected \"valid\", \"same\" or numbers: only time has a direction.", type));
  }
}

Shape kernel_shape(const std::vector<int64_t>& kernel_size, const Dim& before_last, const Dim& last) {
  Shape shape(kernel_size);
  shape.push_back(before_last);
  shape.push_back(last);
  return shape;
}

}  // namespace anyshape::nn
