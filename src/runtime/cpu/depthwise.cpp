// Rows of neighbouring pixels whose taps are all inside the image are handled together, and those at its edges one by one with the taps that they have.
#include "runtime/cpu/depthwise.h"

#include <algorithm>
#include <atomic>

#include "runtime/cpu/convolution_images.h"
#include "runtime/cpu/convolution_phase.h"
#include "runtime/cpu/convolution_scratch.h"
#include "runtime/cpu/kernel_gradient.h"

namespace anyshape::runtime {
namespace {

using Sizes = ConvolutionSizes<int64_t>;
using Wanted = ConvolutionWork::Wanted;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of more filters per channel, tiles of columns have enough.
constexpr int64_t most_multiplier = 15;

SpatialSizes inputs_of(const Sizes& s) { return {s.axes[0].input, s.axes[1].input, s.axes[2].input}; }
SpatialSizes outputs_of(const Sizes& s) { return {s.axes[0].output, s.axes[1].output, s.axes[2].output}; }

// Positions along the last axis from `first` on, `step` apart, whose taps are all inside: of `count`, those from `begin` to `end`.
struct Interior {
  int64_t begin, end;
};
Interior interior_of(const AxisPhase& phase, int64_t source, int64_t count, int64_t size) {
  const int64_t reach = (phase.taps - 1) * phase.offset_step, low = source + std::min<int64_t>(reach, 0),
                high = source + std::max<int64_t>(reach, 0);
  if (phase.taps == 0) return {0, count};
  const int64_t begin = low >= 0 ? 0 : std::min(divide_up(-low, phase.source_step), count);
  const int64_t end = high >= size ? 0 : std::min((size - 1 - high) / phase.source_step + 1, count);
  return {begin, std::max(begin, end)};
}

class Depthwise {
 public:
  Depthwise(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after)
      : kernels_(kernels),
        context_(context),
        call_(call),
        after_(after),
        is_gradient_(call.wanted == Wanted::InputGradient),
        sizes_(call.sizes),
        images_(sizes_.images, is_gradient_ ? inputs_of(sizes_) : outputs_of(sizes_),
                is_gradient_ ? outputs_of(sizes_) : inputs_of(sizes_)),
        phases_(phases_of(sizes_, is_gradient_)) {
    constexpr double task_flops = 1e6;
    constexpr int64_t most_results = 64 * 1024;
    const double flops =
        2.0 * static_cast<double>(sizes_.filters) * static_cast<double>(sizes_.axes[0].taps * sizes_.axes[1].taps * sizes_.axes[2].taps);
    task_pixels_ = std::max<int64_t>(std::min(static_cast<int64_t>(task_flops / std::max(flops, 1.0)), most_results / sizes_.filters), 1);
    const int64_t width = std::max<int64_t>((is_gradient_ ? sizes_.axes[2].input : sizes_.axes[2].output), 1);
    if (task_pixels_ > width) task_pixels_ = divide_up(task_pixels_, width) * width;
  }

  int32_t run() const {
    std::atomic<int32_t> status{0};
    static_cast<Pool*>(context_->pool)->run(divide_up(images_.results(), task_pixels_), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        if (const int32_t failed = run_task(task); failed != 0) status.store(failed, std::memory_order_relaxed);
      }
    });
    return status.load(std::memory_order_relaxed);
  }

 private:
  int32_t run_task(int64_t task) const {
    const int64_t first = task * task_pixels_, end = std::min(first + task_pixels_, images_.results());
    for (int64_t number = 0; number < phases_; ++number) {
      const Phase phase = phase_of(sizes_, is_gradient_, number);
      for (RowWalk walk(images_, first, end); walk.has_row(); walk.next()) {
        if (phase[0].has(walk.row().place[0]) && phase[1].has(walk.row().place[1])) run_row(phase, walk.row());
      }
    }
    return after_ == nullptr ? 0 : after_->run(context_, {first, end, 0, sizes_.filters});
  }

  void run_row(const Phase& phase, const PixelRow& row) const {
    const AxisPhase& along = phase[2];
    const int64_t behind = row.begin % along.step - along.first;
    const int64_t position = row.begin + (behind <= 0 ? -behind : along.step - behind);
    if (position >= row.end) return;
    const int64_t count = divide_up(row.end - position, along.step), source = along.source_of(position);
    const int64_t channels = is_gradient_ ? sizes_.filters : sizes_.channels;
    DepthwiseRun run{.rows = 0,
                     .pixel_step = along.source_step * channels,
                     .tap_step = along.offset_step * channels,
                     .weight_step = along.tap_step * sizes_.filters,
                     .result_step = along.step * sizes_.filters,
                     .filters = sizes_.filters,
                     .multiplier = sizes_.filters / sizes_.channels};
    set_lines(phase, row, channels, run);
    float* const results = call_.result + (row.first_pixel + position - row.begin) * sizes_.filters;
    const int64_t size = row.image.sources[2];
    const Interior interior = interior_of(along, source, count, size);
    for (int64_t pixel = 0; pixel < count;) {
      const bool inside = pixel >= interior.begin && pixel < interior.end;
      const int64_t at = source + pixel * along.source_step;
      const TapRange taps = inside ? TapRange{0, along.taps} : taps_inside(along, at, size);
      run.pixels = inside ? interior.end - pixel : 1;
      run.taps = taps.end - taps.first;
      run.source_offset = (at + taps.first * along.offset_step) * channels;
      run.weight_offset = taps.first * run.weight_step;
      run.result = results + pixel * run.result_step;
      kernels_.depthwise_run(run);
      pixel += run.pixels;
    }
  }

  // The rows of taps that are inside for a row of pixels.
  void set_lines(const Phase& phase, const PixelRow& row, int64_t channels, DepthwiseRun& run) const {
    const SpatialSizes& sizes = row.image.sources;
    const int64_t depth = phase[0].source_of(row.place[0]), height = phase[1].source_of(row.place[1]);
    const TapRange depths = taps_inside(phase[0], depth, sizes[0]), heights = taps_inside(phase[1], height, sizes[1]);
    ConvolutionScratch& scratch = ConvolutionScratch::of_this_thread();
    const int64_t most = (depths.end - depths.first) * (heights.end - heights.first);
    const float **sources = scratch.sources.at_least(most), **weights = scratch.weights.at_least(most);
    run.sources = sources;
    run.weights = weights;
    if (phase[2].taps == 0 || sizes[2] == 0) return;
    for (int64_t i = depths.first; i < depths.end; ++i) {
      for (int64_t j = heights.first; j < heights.end; ++j, ++run.rows) {
        const int64_t line = (depth + i * phase[0].offset_step) * sizes[1] + height + j * phase[1].offset_step;
        sources[run.rows] = call_.first + (row.image.first_source + line * sizes[2]) * channels;
        const int64_t tap = (phase[0].tap + i * phase[0].tap_step) * sizes_.axes[1].taps + phase[1].tap + j * phase[1].tap_step;
        weights[run.rows] = call_.second + (tap * sizes_.axes[2].taps + phase[2].tap) * sizes_.filters;
      }
    }
  }

  const ConvolutionKernels& kernels_;
  AsContext* context_;
  const ConvolutionCall& call_;
  const BlockRun* after_;
  bool is_gradient_;
  const Sizes& sizes_;
  Images images_;
  int64_t phases_, task_pixels_ = 1;
};

// Sums of all taps for some filters, over one slice of the pixels.
class DepthwiseKernelGradient {
 public:
  DepthwiseKernelGradient(const ConvolutionKernels& kernels, const ConvolutionCall& call)
      : kernels_(kernels),
        call_(call),
        sizes_(call.sizes),
        images_(sizes_.images, outputs_of(sizes_), inputs_of(sizes_)),
        phase_(phase_of(sizes_, false, 0)) {}

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
    for (int64_t tap = 0; tap < taps; ++tap)
      std::fill(slice.sums + tap * sizes_.filters + first_filter, slice.sums + tap * sizes_.filters + end_filter, 0.0F);
    DepthwiseGradient g{.pixel_step = phase_[2].source_step * sizes_.channels,
                        .tap_step = phase_[2].offset_step * sizes_.channels,
                        .dy_step = sizes_.filters,
                        .sum_step = sizes_.filters,
                        .first_filter = first_filter,
                        .end_filter = end_filter,
                        .filters = sizes_.filters,
                        .multiplier = sizes_.filters / sizes_.channels};
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
          add_row(row, source, slice.sums + (i * sizes_.axes[1].taps + j) * sizes_.axes[2].taps * sizes_.filters, g);
        }
      }
    }
  }

  void add_row(const PixelRow& row, const float* line, float* sums, DepthwiseGradient& g) const {
    const AxisPhase& along = phase_[2];
    const int64_t count = row.end - row.begin, source = along.source_of(row.begin), size = row.image.sources[2];
    const Interior interior = interior_of(along, source, count, size);
    for (int64_t pixel = 0; pixel < count; pixel += g.pixels) {
      const bool inside = pixel >= interior.begin && pixel < interior.end;
      const int64_t at = source + pixel * along.source_step;
      const TapRange taps = inside ? TapRange{0, along.taps} : taps_inside(along, at, size);
      g.pixels = inside ? interior.end - pixel : 1;
      g.taps = taps.end - taps.first;
      g.source = line + (at + taps.first * along.offset_step) * sizes_.channels;
      g.dy = call_.second + (row.first_pixel + pixel) * sizes_.filters;
      g.sums = sums + taps.first * sizes_.filters;
      kernels_.depthwise_gradient(g);
    }
  }

  const ConvolutionKernels& kernels_;
  const ConvolutionCall& call_;
  const Sizes& sizes_;
  Images images_;
  Phase phase_;
};

}  // namespace

bool is_depthwise(const ConvolutionCall& call) {
  const Sizes& sizes = call.sizes;
  if (sizes.groups <= 1 || sizes.channels != sizes.groups) return false;
  const int64_t multiplier = sizes.filters / sizes.groups;
  return call.wanted == Wanted::InputGradient ? multiplier == 1 : multiplier <= most_multiplier;
}

int32_t run_depthwise(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after) {
  return Depthwise(kernels, context, call, after).run();
}

void run_depthwise_kernel_gradient(const ConvolutionKernels& kernels, Pool& pool, const ConvolutionCall& call) {
  DepthwiseKernelGradient(kernels, call).run(pool);
  add_slices(pool, call);
}

}  // namespace anyshape::runtime
