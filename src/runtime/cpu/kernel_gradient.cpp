// The same tiles as of results, with pixels as depth: a task has a slice of the pixels, some taps, a range of channels and a strip of columns. It
// goes over its pixels part by part, with their gradients in a panel that all of its taps and channels read.
#include "runtime/cpu/kernel_gradient.h"

#include <algorithm>

#include "runtime/cpu/pixel_table.h"

namespace anyshape::runtime {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr int64_t part_pixels = 256;
constexpr int64_t few_channels = 16;  // with fewer, taps of a row are handled together
constexpr int64_t most_run_values = 512;
constexpr int64_t many_channels = 256;
constexpr int64_t line = 16;  // floats

int64_t result_pixels(const ConvolutionSizes<int64_t>& s) { return s.images * s.axes[0].output * s.axes[1].output * s.axes[2].output; }
int64_t taps_of(const ConvolutionSizes<int64_t>& s) { return s.axes[0].taps * s.axes[1].taps * s.axes[2].taps; }
int64_t kernel_elements(const ConvolutionSizes<int64_t>& s) { return taps_of(s) * (s.channels / s.groups) * s.filters; }

class KernelGradient {
 public:
  KernelGradient(const ConvolutionKernels& kernels, const ConvolutionCall& call)
      : kernels_(kernels),
        call_(call),
        sizes_(call.sizes),
        images_(images_of(sizes_, false)),
        phase_(phase_of(sizes_, false, 0)),
        channels_(sizes_.channels / sizes_.groups),
        columns_(sizes_.filters / sizes_.groups) {
    const int64_t row_taps = sizes_.axes[2].taps;
    in_runs_ = channels_ < few_channels && row_taps > 1 && row_taps * channels_ <= most_run_values;
    values_ = in_runs_ ? row_taps * channels_ : channels_;
    taps_ = in_runs_ ? taps_of(sizes_) / row_taps : taps_of(sizes_);
    strips_ = divide_up(columns_, strip_columns);
    cut();
  }

  void run(Pool& pool) const {
    pool.run(sizes_.slices * sizes_.groups * strips_ * tap_cuts_ * value_cuts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) run_task(task);
    });
  }

 private:
  struct Task {
    ConvolutionScratch& scratch;
    int64_t group = 0, column = 0, columns = 0, first_value = 0, end_value = 0, first_tap = 0, end_tap = 0;
  };

  // About 16 tasks that differ little, with channels enough to be worth the panel.
  void cut() {
    constexpr int64_t wanted = 16, least_values = 96;
    const int64_t there = sizes_.slices * sizes_.groups * strips_, by_taps = std::min(taps_, divide_up(wanted, there));
    tap_cuts_ = std::max<int64_t>(taps_ < 4 * by_taps ? (by_taps > 1 ? taps_ : 1) : by_taps, 1);
    const int64_t by_values = std::min(values_ / least_values, divide_up(wanted, there * tap_cuts_));
    value_cuts_ = std::max({by_values, divide_up(values_, most_channels), int64_t{1}});
    task_values_ = divide_up(divide_up(values_, value_cuts_), tile_pixels) * tile_pixels;
  }

  void run_task(int64_t number) const {
    Task task{.scratch = ConvolutionScratch::of_this_thread()};
    const auto next = [&](int64_t count) {
      const int64_t index = number % count;
      number /= count;
      return index;
    };
    const int64_t tap_part = next(tap_cuts_);
    task.first_tap = tap_part * taps_ / tap_cuts_;
    task.end_tap = (tap_part + 1) * taps_ / tap_cuts_;
    task.first_value = std::min(next(value_cuts_) * task_values_, values_);
    task.end_value = std::min(task.first_value + task_values_, values_);
    task.column = next(strips_) * strip_columns;
    task.columns = std::min(strip_columns, columns_ - task.column);
    task.group = next(sizes_.groups);
    const GradientSlice slice = gradient_slice(call_, number);
    int64_t first = slice.first;
    do {  // once where there are no pixels, for the zeros
      run_part(task, slice, first, std::min(first + part_pixels, slice.end));
      first += part_pixels;
    } while (first < slice.end);
  }

  void run_part(const Task& task, const GradientSlice& slice, int64_t first, int64_t end) const {
    float* const panels = task.scratch.panels.at_least(part_pixels * (strip_columns + kernels_.lanes));
    const int64_t step = kernels_.tile_columns, pixels = end - first;
    kernels_.copy_panels({.from = call_.second + first * sizes_.filters + task.group * columns_ + task.column,
                          .row_step = sizes_.filters,
                          .column_step = 1,
                          .rows = pixels,
                          .columns = task.columns,
                          .to = panels,
                          .panel_step = pixels * step});
    const float** const sources = task.scratch.sources.at_least(part_pixels);
    const int64_t task_values = task.end_value - task.first_value;
    float* const copies = task.scratch.copies.at_least(part_pixels * (in_runs_ ? values_ : task_values + 2 * line));
    for (int64_t tap = task.first_tap; tap < task.end_tap; ++tap) {
      fill_sources(task, tap, first, end, sources, copies);
      if (!in_runs_ && sizes_.channels >= many_channels && step < strip_columns) bring_near(task_values, pixels, sources, copies);
      float* const sums = slice.sums + tap * values_ * sizes_.filters + task.group * columns_ + task.column;
      for (int64_t value = task.first_value; value < task.end_value; value += tile_pixels) {
        for (int64_t column = 0; column < task.columns; column += step) {
          const int64_t columns = std::min(step, task.columns - column);
          kernels_.gradient_tile({.channels = std::min(tile_pixels, task.end_value - value),
                                  .columns = columns,
                                  .pixels = pixels,
                                  .sources = sources,
                                  .channel = value - task.first_value,
                                  .panel = panels + column * pixels,
                                  .panel_step = width_of(columns),
                                  .result = sums + value * sizes_.filters + column,
                                  .result_step = sizes_.filters,
                                  .adds = first > slice.first});
        }
      }
    }
  }

  // Pixels a multiple of some KiB apart drive each other out of the first cache, and every tile of columns reads them again: copies in rows that are
  // an odd number of lines long do not.
  static void bring_near(int64_t values, int64_t pixels, const float** sources, float* copies) {
    const int64_t lines = divide_up(values, line) | 1;
    for (int64_t pixel = 0; pixel < pixels; ++pixel, copies += lines * line) {
      std::copy_n(sources[pixel], values, copies);
      sources[pixel] = copies;
    }
  }

  int64_t width_of(int64_t columns) const { return divide_up(columns, kernels_.lanes) * kernels_.lanes; }

  // What pixels [first, end) meet at a tap, from the task's first value on.
  void fill_sources(const Task& task, int64_t tap, int64_t first, int64_t end, const float** to, float* copies) const {
    const int64_t column = in_runs_ ? 0 : tap % sizes_.axes[2].taps, line = in_runs_ ? tap : tap / sizes_.axes[2].taps;
    const int64_t offset_depth = line / sizes_.axes[1].taps * phase_[0].offset_step,
                  offset_height = line % sizes_.axes[1].taps * phase_[1].offset_step;
    const float* const from = call_.first + task.group * channels_ + (in_runs_ ? 0 : task.first_value);
    for (RowWalk walk(images_, first, end); walk.has_row(); walk.next()) {
      const PixelRow& row = walk.row();
      const SpatialSizes& sizes = row.image.sources;
      const int64_t depth = phase_[0].source_of(row.place[0]) + offset_depth, height = phase_[1].source_of(row.place[1]) + offset_height;
      const int64_t pixels = row.end - row.begin;
      if (depth < 0 || depth >= sizes[0] || height < 0 || height >= sizes[1]) {
        to = std::fill_n(to, pixels, zero_pixel);
        copies += in_runs_ ? pixels * values_ : 0;
        continue;
      }
      const int64_t line_at = row.image.first_source + (depth * sizes[1] + height) * sizes[2];
      int64_t source = phase_[2].source_of(row.begin) + column * phase_[2].offset_step;
      for (int64_t pixel = 0; pixel < pixels; ++pixel, source += phase_[2].source_step) {
        if (in_runs_) {
          *to++ = run_at(from, line_at, source, sizes[2], copies) + task.first_value;
          copies += values_;
        } else {
          *to++ = source < 0 || source >= sizes[2] ? zero_pixel : from + (line_at + source) * sizes_.channels;
        }
      }
    }
  }

  // The values of all taps along the last axis: in place where they are neighbours, or copied with zeros for the padding.
  const float* run_at(const float* from, int64_t line_at, int64_t source, int64_t size, float* copy) const {
    if (phase_[2].offset_step == 1 && channels_ == sizes_.channels && phase_[2].all_inside(source, size))
      return from + (line_at + source) * sizes_.channels;
    const TapRange inside = taps_inside(phase_[2], source, size);
    std::fill_n(copy, inside.first * channels_, 0.0F);
    std::fill_n(copy + inside.end * channels_, (phase_[2].taps - inside.end) * channels_, 0.0F);
    for (int64_t tap = inside.first; tap < inside.end; ++tap) {
      const float* const at = from + (line_at + source + tap * phase_[2].offset_step) * sizes_.channels;
      for (int64_t channel = 0; channel < channels_; ++channel) copy[tap * channels_ + channel] = at[channel];
    }
    return copy;
  }

  const ConvolutionKernels& kernels_;
  const ConvolutionCall& call_;
  const ConvolutionSizes<int64_t>& sizes_;
  Images images_;
  Phase phase_;
  int64_t channels_, columns_;  // of a group
  bool in_runs_ = false;
  int64_t values_ = 0, taps_ = 0;  // behind a pointer, and how many pointers a pixel has
  int64_t strips_ = 0, tap_cuts_ = 0, value_cuts_ = 0, task_values_ = 0;
};

}  // namespace

GradientSlice gradient_slice(const ConvolutionCall& call, int64_t slice) {
  const int64_t pixels = result_pixels(call.sizes), of_a_slice = divide_up(pixels, call.sizes.slices),
                first = std::min(slice * of_a_slice, pixels);
  float* const sums = call.sizes.slices == 1 ? call.result : call.partial + slice * kernel_elements(call.sizes);
  return {sums, first, std::min(first + of_a_slice, pixels)};
}

void add_slices(Pool& pool, const ConvolutionCall& call) {
  if (call.sizes.slices == 1) return;
  constexpr int64_t task_elements = int64_t{16} * 1024;
  const int64_t elements = kernel_elements(call.sizes);
  pool.run(elements, std::max<int64_t>(task_elements / call.sizes.slices / 16 * 16, 16), [&](int64_t begin, int64_t end) {
    std::copy(call.partial + begin, call.partial + end, call.result + begin);
    for (int64_t slice = 1; slice < call.sizes.slices; ++slice) {
      const float* const from = call.partial + slice * elements;
      for (int64_t i = begin; i < end; ++i) call.result[i] += from[i];
    }
  });
}

void run_kernel_gradient(const ConvolutionKernels& kernels, Pool& pool, const ConvolutionCall& call) {
  KernelGradient(kernels, call).run(pool);
  add_slices(pool, call);
}

}  // namespace anyshape::runtime
