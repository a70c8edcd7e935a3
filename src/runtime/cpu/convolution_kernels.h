// What convolutions do in registers, once per instruction set: plain functions over plain structs, so that files compiled for a better processor hold
// nothing else. Whatever the set, every sum is one chain of fused multiply-adds in the same order.
#pragma once
#include <cstdint>

namespace anyshape::runtime {

inline constexpr int64_t tile_pixels = 6;     // rows of a tile in registers, whatever the instruction set
inline constexpr int64_t narrow_pixels = 16;  // the same where columns are at most narrow_columns, and pixels are the lanes
inline constexpr int64_t narrow_columns = 6;
inline constexpr int64_t strip_columns = 64;    // work is cut into strips of so many columns: whole tiles of any set
inline constexpr int64_t most_depth = 512;      // values of a source that are walked at a time
inline constexpr int64_t most_channels = 1536;  // of a source that a tile of a kernel's gradient may be away from its pointers

// What a tap in the padding meets.
alignas(64) inline constexpr float zero_pixel[most_channels + 16] = {};

// Results, pixels x columns: the sums over taps and depth, in this order, of sources times weights.
struct PixelTile {
  int64_t pixels = 0,
          columns = 0;  // 1 to tile_pixels, 1 to ConvolutionKernels::tile_columns; or narrow, 1 to narrow_pixels and narrow_columns
  int64_t taps = 0, depth = 0;
  const float* const* sources = nullptr;  // [taps][tile_pixels], `depth` values each; all are set in narrow tiles
  const float* weights = nullptr;         // rows of columns, one per value of a source
  const int64_t* tap_weights = nullptr;   // [taps]: how far its rows are away
  int64_t weight_step = 0;                // between rows
  float* const* results = nullptr;        // [pixels]
  int64_t column = 0;                     // of the results
  bool adds = false;                      // to what stands in the results
};

// A part of a kernel's gradient, channels x columns: the sums over pixels of sources times rows of the panel.
struct GradientTile {
  int64_t channels = 0, columns = 0;  // 1 to tile_pixels, 1 to ConvolutionKernels::tile_columns
  int64_t pixels = 0;
  const float* const* sources = nullptr;  // [pixels]
  int64_t channel = 0;                    // the first one, of each source
  const float* panel = nullptr;           // [pixels][panel_step]
  int64_t panel_step = 0;
  float* result = nullptr;
  int64_t result_step = 0;  // between channels
  bool adds = false;
};

// Panels, [rows][width] each, of neighbouring columns: copies of a matrix with zeros behind its last column. The last panel is as wide as it has
// vectors.
struct PanelCopy {
  const float* from = nullptr;
  int64_t row_step = 0, column_step = 0;  // one of them is 1
  int64_t rows = 0, columns = 0;
  float* to = nullptr;
  int64_t panel_step = 0;  // between panels of ConvolutionKernels::tile_columns
};

// Small groups: each has `columns` results that share `values` of a source; 1 and 1 in depthwise convolutions.
struct LaneGroups {
  int64_t columns = 1, values = 1;
};

// Neighbouring results of a convolution in small groups, with all their channels: the sums over rows of taps, taps in them, and values of the group.
struct DepthwiseRun {
  int64_t pixels = 0, rows = 0, taps = 0;
  const float* const* sources = nullptr;         // [rows]: what the first pixel meets at the first tap
  const float* const* weights = nullptr;         // [rows]: of the first tap, [values][channels]
  int64_t source_offset = 0, weight_offset = 0;  // of all of them
  int64_t pixel_step = 0, tap_step = 0;          // between sources
  int64_t weight_step = 0;                       // between taps
  float* result = nullptr;
  int64_t result_step = 0;
  int64_t channels = 0;  // of a result
  LaneGroups groups;
};

// sums [taps][values][channels] += the sums over pixels of sources times dy, for one row of taps.
struct DepthwiseGradient {
  int64_t pixels = 0, taps = 0;
  const float* source = nullptr;  // all channels of what the first pixel meets at the first tap
  int64_t pixel_step = 0, tap_step = 0;
  const float* dy = nullptr;
  int64_t dy_step = 0;
  float* sums = nullptr;
  int64_t sum_step = 0;                        // between taps
  int64_t first_channel = 0, end_channel = 0;  // dy and sums begin at channel 0, too
  int64_t channels = 0;                        // of dy
  LaneGroups groups;
};

struct ConvolutionKernels {
  int64_t lanes;         // of a vector
  int64_t tile_columns;  // several vectors
  void (*pixel_tile)(const PixelTile&);
  void (*narrow_tile)(const PixelTile&);
  void (*gradient_tile)(const GradientTile&);
  void (*copy_panels)(const PanelCopy&);
  void (*depthwise_run)(const DepthwiseRun&);
  void (*depthwise_gradient)(const DepthwiseGradient&);
};

// The sets that this processor has, the best first; null behind them.
struct ConvolutionSets {
  const ConvolutionKernels *avx512 = nullptr, *avx2 = nullptr;
  const ConvolutionKernels* best() const { return avx512 != nullptr ? avx512 : avx2; }
};
const ConvolutionSets& convolution_sets();

}  // namespace anyshape::runtime
