// Where the sources of a task's pixels stand, tap by tap: tables of pointers that tiles walk, so that any stride, dilation, padding and image size is
// the same code.
#pragma once
#include "runtime/cpu/convolution_images.h"
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/convolution_phase.h"
#include "runtime/cpu/convolution_scratch.h"

#include <span>

namespace anyshape::runtime {

// A tap of a phase: how far away its source is along each axis, and which tap of the kernel it is, counted flat.
struct PixelTap {
  SpatialSizes offset{};
  int64_t tap = 0;
};

// The tensor that is read: pixels of `channels` values, of which a tap meets `depth` from `first` on. In runs, a tap stands for all those of a phase
// along the last axis, and meets the values of all of them: for few channels, where a tap alone is too little.
struct PixelSources {
  const float* first = nullptr;
  int64_t channels = 0, depth = 0;
  bool in_runs = false;

  int64_t values(const Phase& phase) const { return in_runs ? phase[2].taps * depth : depth; }  // behind a pointer
};

class PixelTable {
 public:
  static constexpr size_t most_taps = 128;

  PixelTable(ConvolutionScratch& scratch, int64_t tile_size) : scratch_(scratch), tile_size_(tile_size) {}

  // For the pixels of `phase` among results [first, end), and at most most_taps taps of it.
  void fill(const Images& images, const Phase& phase, int64_t first, int64_t end, std::span<const PixelTap> taps,
            const PixelSources& sources);

  int64_t pixels() const { return pixels_; }
  int64_t tiles() const { return (pixels_ + tile_size_ - 1) / tile_size_; }
  int64_t pixels_of(int64_t tile) const { return tile + 1 < tiles() ? tile_size_ : pixels_ - tile * tile_size_; }
  const float* const* sources(int64_t tile) const { return sources_ + tile * taps_ * tile_size_; }  // [taps][tile size]
  const int64_t* results(int64_t tile) const { return results_ + tile * tile_size_; }               // the pixels, counted flat
  bool uses(int64_t tile, int64_t tap) const { return marks_[tile * taps_ + tap] != 0; }            // else all its sources are padding
  bool uses_all(int64_t tile) const { return whole_[tile] != 0; }

 private:
  void set_distances(const SpatialSizes& sizes, std::span<const PixelTap> taps, int64_t channels);
  void fill_row(const PixelRow& row, const Phase& phase, std::span<const PixelTap> taps, const PixelSources& sources);
  void fill_interior(int64_t at, int64_t step, int64_t count, const float* first);
  void fill_pixel(const PixelRow& row, const SpatialSizes& place, const Phase& phase, std::span<const PixelTap> taps,
                  const PixelSources& sources);
  const float* copied_run(int64_t at, int64_t source, int64_t size, int64_t tap, const AxisPhase& phase, const PixelSources& sources);

  ConvolutionScratch& scratch_;
  int64_t tile_size_;  // pixels
  const float** sources_ = nullptr;
  int64_t* results_ = nullptr;
  uint8_t *marks_ = nullptr, *whole_ = nullptr;
  float* copies_ = nullptr;
  int64_t taps_ = 0, pixels_ = 0;
  int64_t distances_[most_taps] = {};  // of each tap's source, in values, in an image of the present sizes
};

}  // namespace anyshape::runtime
