// Which pixels a result meets. The gradient of the input has phases: results that are a stride apart meet the same taps.
#pragma once
#include "loop/library_work.h"

#include <array>
#include <cstdint>

namespace anyshape::runtime {

// Along one axis: result first + i * step meets source i * source_step + offset + j * offset_step at its j-th tap, tap + j * tap_step of the kernel.
struct AxisPhase {
  int64_t first = 0, step = 1;
  int64_t source_step = 1, offset = 0, offset_step = 1;
  int64_t tap = 0, tap_step = 1, taps = 0;

  int64_t source_of(int64_t result) const { return (result - first) / step * source_step + offset; }
  bool has(int64_t result) const { return result % step == first; }
  // Of what a result that meets `source` at the first tap meets: whether all of it is inside.
  bool all_inside(int64_t source, int64_t size) const {
    const int64_t last = source + (taps - 1) * offset_step;
    return taps == 0 || (source >= 0 && source < size && last >= 0 && last < size);
  }
};

using Phase = std::array<AxisPhase, 3>;

// The phases along an axis: of results, and of a gradient of the input.
int64_t phases_of(const ConvolutionSizes<int64_t>::Axis& axis, bool is_gradient);

// The taps [first, end) of a phase whose sources are inside, where the first tap meets `source`.
struct TapRange {
  int64_t first, end;
};
TapRange taps_inside(const AxisPhase& phase, int64_t source, int64_t size);

// Of `count` neighbouring results of a phase, those whose sources are all inside, where the first one meets `source` at its first tap.
struct PixelRange {
  int64_t begin, end;
};
PixelRange interior_of(const AxisPhase& phase, int64_t source, int64_t count, int64_t size);

AxisPhase axis_phase(const ConvolutionSizes<int64_t>::Axis& axis, bool is_gradient, int64_t phase);

// Of all three axes, phase 0 to the product of phases_of() - 1.
Phase phase_of(const ConvolutionSizes<int64_t>& sizes, bool is_gradient, int64_t phase);

int64_t phases_of(const ConvolutionSizes<int64_t>& sizes, bool is_gradient);

}  // namespace anyshape::runtime
