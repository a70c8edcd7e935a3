// Rows of neighbouring pixels whose taps are all inside the image are handled together, and those at its edges one by one with the taps that they
// have.
#include "runtime/cpu/depthwise.h"

#include <algorithm>
#include <atomic>

#include "runtime/cpu/convolution_images.h"
#include "runtime/cpu/convolution_phase.h"
#include "runtime/cpu/convolution_scratch.h"

namespace anyshape::runtime {
namespace {

using Sizes = ConvolutionSizes<int64_t>;
using Wanted = ConvolutionWork::Wanted;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of more columns in a group tiles have enough, and of more values.
constexpr int64_t most_of_a_group = 15;

int64_t taps_of(const Sizes& s) { return s.axes[0].taps * s.axes[1].taps * s.axes[2].taps; }

class Depthwise {
 public:
  Depthwise(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after)
      : kernels_(kernels),
        context_(context),
        call_(call),
        after_(after),
        is_gradient_(call.wanted == Wanted::InputGradient),
        sizes_(call.sizes),
        images_(images_of(sizes_, is_gradient_)),
        phases_(phases_of(sizes_, is_gradient_)),
        channels_(is_gradient_ ? sizes_.channels : sizes_.filters),
        source_channels_(is_gradient_ ? sizes_.filters : sizes_.channels),
        groups_{channels_ / sizes_.groups, source_channels_ / sizes_.groups},
        transposes_(is_gradient_ && (groups_.columns != 1 || groups_.values != 1)) {
    const double task_flops = transposes_ ? 4e6 : 1e6;
    constexpr int64_t most_results = int64_t{64} * 1024;
    const double flops = 2.0 * static_cast<double>(channels_ * groups_.values) * static_cast<double>(taps_of(sizes_));
    task_pixels_ = std::max<int64_t>(std::min(static_cast<int64_t>(task_flops / std::max(flops, 1.0)), most_results / channels_), 1);
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
    const float* const weights = transposes_ ? transposed_weights() : call_.second;
    const int64_t first = task * task_pixels_, end = std::min(first + task_pixels_, images_.results());
    for (int64_t number = 0; number < phases_; ++number) {
      const Phase phase = phase_of(sizes_, is_gradient_, number);
      for (RowWalk walk(images_, first, end); walk.has_row(); walk.next()) {
        if (phase[0].has(walk.row().place[0]) && phase[1].has(walk.row().place[1])) run_row(phase, walk.row(), weights);
      }
    }
    return after_ == nullptr ? 0 : after_->run(context_, {first, end, 0, channels_});
  }

  // For gradients of the input: of each tap and filter of a group, the weights of all channels.
  const float* transposed_weights() const {
    const int64_t taps = taps_of(sizes_);
    float* const memory = ConvolutionScratch::of_this_thread().panels.at_least(taps * groups_.values * channels_);
    const float* from = call_.second;
    for (int64_t tap = 0; tap < taps; ++tap) {
      float* const to = memory + tap * groups_.values * channels_;
      for (int64_t column = 0; column < groups_.columns; ++column) {
        for (int64_t group = 0; group < sizes_.groups; ++group) {
          for (int64_t value = 0; value < groups_.values; ++value) to[value * channels_ + group * groups_.columns + column] = *from++;
        }
      }
    }
    return memory;
  }

  void run_row(const Phase& phase, const PixelRow& row, const float* weights) const {
    const AxisPhase& along = phase[2];
    const int64_t behind = row.begin % along.step - along.first;
    const int64_t position = row.begin + (behind <= 0 ? -behind : along.step - behind);
    if (position >= row.end) return;
    const int64_t count = divide_up(row.end - position, along.step), source = along.source_of(position);
    DepthwiseRun run{.rows = 0,
                     .pixel_step = along.source_step * source_channels_,
                     .tap_step = along.offset_step * source_channels_,
                     .weight_step = along.tap_step * groups_.values * channels_,
                     .result_step = along.step * channels_,
                     .channels = channels_,
                     .groups = groups_};
    set_lines(phase, row, weights, run);
    float* const results = call_.result + (row.first_pixel + position - row.begin) * channels_;
    const int64_t size = row.image.sources[2];
    const PixelRange interior = interior_of(along, source, count, size);
    for (int64_t pixel = 0; pixel < count;) {
      const bool inside = pixel >= interior.begin && pixel < interior.end;
      const int64_t at = source + pixel * along.source_step;
      const TapRange taps = inside ? TapRange{0, along.taps} : taps_inside(along, at, size);
      run.pixels = inside ? interior.end - pixel : 1;
      run.taps = taps.end - taps.first;
      run.source_offset = (at + taps.first * along.offset_step) * source_channels_;
      run.weight_offset = taps.first * run.weight_step;
      run.result = results + pixel * run.result_step;
      kernels_.depthwise_run(run);
      pixel += run.pixels;
    }
  }

  // The rows of taps that are inside for a row of pixels.
  void set_lines(const Phase& phase, const PixelRow& row, const float* weights, DepthwiseRun& run) const {
    const SpatialSizes& sizes = row.image.sources;
    const int64_t depth = phase[0].source_of(row.place[0]), height = phase[1].source_of(row.place[1]);
    const TapRange depths = taps_inside(phase[0], depth, sizes[0]), heights = taps_inside(phase[1], height, sizes[1]);
    ConvolutionScratch& scratch = ConvolutionScratch::of_this_thread();
    const int64_t most = (depths.end - depths.first) * (heights.end - heights.first);
    const float **sources = scratch.sources.at_least(most), **tap_weights = scratch.weights.at_least(most);
    run.sources = sources;
    run.weights = tap_weights;
    if (phase[2].taps == 0 || sizes[2] == 0) return;
    for (int64_t i = depths.first; i < depths.end; ++i) {
      for (int64_t j = heights.first; j < heights.end; ++j, ++run.rows) {
        const int64_t line = (depth + i * phase[0].offset_step) * sizes[1] + height + j * phase[1].offset_step;
        sources[run.rows] = call_.first + (row.image.first_source + line * sizes[2]) * source_channels_;
        const int64_t tap = (phase[0].tap + i * phase[0].tap_step) * sizes_.axes[1].taps + phase[1].tap + j * phase[1].tap_step;
        tap_weights[run.rows] = weights + (tap * sizes_.axes[2].taps + phase[2].tap) * groups_.values * channels_;
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
  int64_t phases_;
  int64_t channels_, source_channels_;
  LaneGroups groups_;
  bool transposes_;  // weights
  int64_t task_pixels_ = 1;
};

}  // namespace

bool has_small_groups(const ConvolutionCall& call) {
  const Sizes& sizes = call.sizes;
  return sizes.groups > 1 && sizes.channels / sizes.groups <= most_of_a_group && sizes.filters / sizes.groups <= most_of_a_group;
}

int32_t run_depthwise(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after) {
  return Depthwise(kernels, context, call, after).run();
}

}  // namespace anyshape::runtime
