// Taps of a phase are found by the rule of a convolution: result o meets input o * stride + tap * dilation - before.
#include "runtime/cpu/convolution_phase.h"

#include <algorithm>
#include <numeric>

namespace anyshape::runtime {

int64_t phases_of(const ConvolutionSizes<int64_t>::Axis& axis, bool is_gradient) {
  return is_gradient ? std::max<int64_t>(std::min(axis.stride, axis.input), 1) : 1;
}

TapRange taps_inside(const AxisPhase& phase, int64_t source, int64_t size) {
  int64_t first = 0, end = phase.taps;
  const auto is_inside = [&](int64_t tap) {
    const int64_t at = source + tap * phase.offset_step;
    return at >= 0 && at < size;
  };
  while (first < end && !is_inside(first)) ++first;
  while (first < end && !is_inside(end - 1)) --end;
  return {first, end};
}

PixelRange interior_of(const AxisPhase& phase, int64_t source, int64_t count, int64_t size) {
  if (phase.taps == 0) return {0, count};
  const int64_t reach = (phase.taps - 1) * phase.offset_step;
  const int64_t low = source + std::min<int64_t>(reach, 0), high = source + std::max<int64_t>(reach, 0);
  const int64_t begin = low >= 0 ? 0 : std::min((-low + phase.source_step - 1) / phase.source_step, count);
  const int64_t end = high >= size ? 0 : std::min((size - 1 - high) / phase.source_step + 1, count);
  return {begin, std::max(begin, end)};
}

AxisPhase axis_phase(const ConvolutionSizes<int64_t>::Axis& axis, bool is_gradient, int64_t phase) {
  if (!is_gradient) return {.source_step = axis.stride, .offset = -axis.before, .offset_step = axis.dilation, .taps = axis.taps};
  // Input i is met by result (i + before - tap * dilation) / stride where that is whole: by every stride / divisor-th tap.
  const int64_t divisor = std::gcd(axis.dilation, axis.stride), tap_step = axis.stride / divisor;
  AxisPhase result{.first = phase, .step = axis.stride, .offset_step = -axis.dilation / divisor, .tap_step = tap_step};
  for (int64_t tap = 0; tap < std::min(tap_step, axis.taps); ++tap) {
    const int64_t distance = phase + axis.before - tap * axis.dilation;
    if (distance % axis.stride != 0) continue;
    result.offset = distance / axis.stride;
    result.tap = tap;
    result.taps = (axis.taps - tap + tap_step - 1) / tap_step;
    break;
  }
  return result;
}

Phase phase_of(const ConvolutionSizes<int64_t>& sizes, bool is_gradient, int64_t phase) {
  Phase result;
  for (size_t axis = result.size(); axis-- > 0;) {
    const int64_t phases = phases_of(sizes.axes[axis], is_gradient);
    result[axis] = axis_phase(sizes.axes[axis], is_gradient, phase % phases);
    phase /= phases;
  }
  return result;
}

int64_t phases_of(const ConvolutionSizes<int64_t>& sizes, bool is_gradient) {
  int64_t phases = 1;
  for (const auto& axis : sizes.axes) phases *= phases_of(axis, is_gradient);
  return phases;
}

}  // namespace anyshape::runtime
