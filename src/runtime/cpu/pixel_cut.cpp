// Tasks are large enough to be worth their weights, which each of them reads, and small enough that what they read and write stays in the second
// cache.
#include "runtime/cpu/pixel_cut.h"

#include <algorithm>

#include "runtime/cpu/convolution_kernels.h"

namespace anyshape::runtime {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr double task_flops = 2e6;
constexpr int64_t most_tasks = 16;                     // unless pixels are many
constexpr int64_t least_pixels = 192;                  // weights shall meet many pixels
constexpr int64_t most_pixels = 384;                   // of a phase
constexpr int64_t most_results = int64_t{128} * 1024;  // that a task writes, in floats
constexpr int64_t most_copied = int64_t{128} * 1024;   // floats
constexpr int64_t most_pointers = int64_t{16} * 1024;

}  // namespace

PixelCut cut_pixels(const PixelWork& work) {
  const int64_t phases = std::min<int64_t>(work.phases, 4), strips = divide_up(work.columns, strip_columns);
  PixelCut cut{};
  cut.depth = std::min(work.depth, most_depth);
  const double flops = 2.0 * static_cast<double>(work.pixels) * static_cast<double>(work.columns) * static_cast<double>(work.depth) *
                       static_cast<double>(work.taps) / static_cast<double>(work.phases);
  const int64_t wanted = static_cast<int64_t>(std::clamp(flops / task_flops, 1.0, static_cast<double>(most_tasks)));
  int64_t pixel_cuts = std::clamp<int64_t>(work.pixels / (least_pixels * phases), 1, wanted);
  pixel_cuts = std::max(pixel_cuts, divide_up(work.pixels, most_pixels * phases));
  if (work.copies)
    pixel_cuts = std::max(pixel_cuts, divide_up(work.pixels, std::max(work.tile, most_copied / std::max<int64_t>(work.depth, 1))));
  if (pixel_cuts * strips < std::min<int64_t>(wanted, 4)) pixel_cuts = std::clamp<int64_t>(work.pixels / (4 * work.tile), pixel_cuts, 4);
  cut.pixels = divide_up(divide_up(work.pixels, pixel_cuts), work.tile) * work.tile;
  int64_t column_cuts = std::clamp<int64_t>(divide_up(wanted, pixel_cuts), 1, strips);
  column_cuts = std::min(strips, std::max(column_cuts, divide_up(cut.pixels * work.columns, most_results)));
  cut.columns = divide_up(strips, column_cuts) * strip_columns;
  cut.taps = 1;
  if (cut.depth == work.depth) {
    const int64_t by_depth = (most_depth + most_depth / 4) / std::max<int64_t>(work.depth, 1), by_pointers = most_pointers / cut.pixels;
    cut.taps = std::clamp<int64_t>(std::min({work.taps, by_depth, by_pointers, int64_t{128}}), 1, 128);
    if (work.copies) cut.taps = std::max<int64_t>(1, std::min(cut.taps, most_copied / (cut.pixels * std::max<int64_t>(work.depth, 1))));
  }
  return cut;
}

}  // namespace anyshape::runtime
