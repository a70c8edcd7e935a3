// Gradients of the kernels of convolutions in small groups: a task has a strip of filters and a slice of the pixels, and goes over these row by row.
#include <algorithm>

#include "runtime/cpu/convolution_images.h"
#include "runtime/cpu/convolution_phase.h"
#include "runtime/cpu/depthwise.h"
#include "runtime/cpu/kernel_gradient.h"

namespace anyshape::runtime {
namespace {

using Sizes = ConvolutionSizes<int64_t>;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Sums of all taps for some filters, over one slice of the pixels.
class DepthwiseKernelGradient {
 public:
  DepthwiseKernelGradient(const ConvolutionKernels& kernels, const ConvolutionCall& call)
      : kernels_(kernels),
        call_(call),
        sizes_(call.sizes),
        images_(images_of(sizes_, false)),
        phase_(phase_of(sizes_, false, 0)),
        groups_{sizes_.filters / sizes_.groups, sizes_.channels / sizes_.groups} {}

  void run(Pool& pool) const {
    const int64_t strips = divide_up(sizes_.filters, strip_columns);
    pool.run(strips * sizes_.slices, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) run_task(gradient_slice(call_, task / strips), task % strips * strip_columns);
    });
  }

 private:
  void run_task(const GradientSlice& slice, int64_t first_filter) const {
    const int64_t end_filter = std::min(first_filter + strip_columns, sizes_.filters);
    const int64_t taps = sizes_.axes[0].taps * sizes_.axes[1].taps * sizes_.axes[2].taps;
    for (int64_t row = 0; row < taps * groups_.values; ++row)
      std::fill(slice.sums + row * sizes_.filters + first_filter, slice.sums + row * sizes_.filters + end_filter, 0.0F);
    DepthwiseGradient g{.pixel_step = phase_[2].source_step * sizes_.channels,
                        .tap_step = phase_[2].offset_step * sizes_.channels,
                        .dy_step = sizes_.filters,
                        .sum_step = groups_.values * sizes_.filters,
                        .first_channel = first_filter,
                        .end_channel = end_filter,
                        .channels = sizes_.filters,
                        .groups = groups_};
    for (RowWalk walk(images_, slice.first, slice.end); walk.has_row(); walk.next()) {
      const PixelRow& row = walk.row();
      const SpatialSizes& sizes = row.image.sources;
      if (sizes[2] == 0) continue;
      const int64_t depth = phase_[0].source_of(row.place[0]), height = phase_[1].source_of(row.place[1]);
      const TapRange depths = taps_inside(phase_[0], depth, sizes[0]), heights = taps_inside(phase_[1], height, sizes[1]);
      for (int64_t i = depths.first; i < depths.end; ++i) {
        for (int64_t j = heights.first; j < heights.end; ++j) {
          const int64_t line = (depth + i * phase_[0].offset_step) * sizes[1] + height + j * phase_[1].offset_step;
          const float* const source = call_.first + (row.image.first_source + line * sizes[2]) * sizes_.channels;
          add_row(row, source, slice.sums + (i * sizes_.axes[1].taps + j) * sizes_.axes[2].taps * g.sum_step, g);
        }
      }
    }
  }

  void add_row(const PixelRow& row, const float* line, float* sums, DepthwiseGradient& g) const {
    const AxisPhase& along = phase_[2];
    const int64_t count = row.end - row.begin, source = along.source_of(row.begin), size = row.image.sources[2];
    const PixelRange interior = interior_of(along, source, count, size);
    for (int64_t pixel = 0; pixel < count; pixel += g.pixels) {
      const bool inside = pixel >= interior.begin && pixel < interior.end;
      const int64_t at = source + pixel * along.source_step;
      const TapRange taps = inside ? TapRange{0, along.taps} : taps_inside(along, at, size);
      g.pixels = inside ? interior.end - pixel : 1;
      g.taps = taps.end - taps.first;
      g.source = line + (at + taps.first * along.offset_step) * sizes_.channels;
      g.dy = call_.second + (row.first_pixel + pixel) * sizes_.filters;
      g.sums = sums + taps.first * g.sum_step;
      kernels_.depthwise_gradient(g);
    }
  }

  const ConvolutionKernels& kernels_;
  const ConvolutionCall& call_;
  const Sizes& sizes_;
  Images images_;
  Phase phase_;
  LaneGroups groups_;
};

}  // namespace

void run_depthwise_kernel_gradient(const ConvolutionKernels& kernels, Pool& pool, const ConvolutionCall& call) {
  DepthwiseKernelGradient(kernels, call).run(pool);
  add_slices(pool, call);
}

}  // namespace anyshape::runtime
