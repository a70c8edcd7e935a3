// Tiles of convolutions with few columns, in registers, for the instruction set V: pixels are the lanes, so that no lane is idle.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/unrolled.h"

namespace anyshape::runtime {

// Four neighbouring values of as many pixels as a vector has lanes: values[i] has the i-th of each.
template <class V>
[[gnu::always_inline]] inline void load_four_values(const float* const* sources, int64_t value, typename V::Vector* values) {
  typename V::Vector a[4], b[4];
  unrolled<4>([&](auto i) __attribute__((always_inline)) { a[i] = V::load_quarters(sources + i, value); });
  unrolled<2>([&](auto i) __attribute__((always_inline)) {
    b[2 * i] = V::low_pairs(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = V::high_pairs(a[2 * i], a[2 * i + 1]);
  });
  values[0] = V::low_halves(b[0], b[2]);
  values[1] = V::high_halves(b[0], b[2]);
  values[2] = V::low_halves(b[1], b[3]);
  values[3] = V::high_halves(b[1], b[3]);
}

// Pixels from `first` on, as many as a vector has lanes.
template <class V, int columns>
void run_narrow_tile(const PixelTile& tile, int64_t first) {
  const int64_t pixels = tile.pixels - first < V::lanes ? tile.pixels - first : V::lanes;
  float* const* const results = tile.results + first;
  alignas(64) float memory[columns][V::lanes] = {};
  if (tile.adds) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int column = 0; column < columns; ++column) memory[column][pixel] = results[pixel][tile.column + column];
  }
  typename V::Vector sums[columns];
  unrolled<columns>([&](auto column) __attribute__((always_inline)) { sums[column] = V::load(memory[column]); });
  const auto add = [&](typename V::Vector values, const float* weights) __attribute__((always_inline)) {
    unrolled<columns>([&](auto column)
                          __attribute__((always_inline)) { V::add_product(sums[column], values, V::in_all_lanes(weights + column)); });
  };
  for (int64_t tap = 0; tap < tile.taps; ++tap) {
    const float* const* const sources = tile.sources + tap * narrow_pixels + first;
    const float* weights = tile.weights + tile.tap_weights[tap];
    int64_t value = 0;
    for (; value + 4 <= tile.depth; value += 4) {
      typename V::Vector values[4];
      load_four_values<V>(sources, value, values);
      unrolled<4>([&](auto i) __attribute__((always_inline)) {
        add(values[i], weights);
        weights += tile.weight_step;
      });
    }
    if (value < tile.depth && tile.depth >= 4) {  // the last four once more: those of them that are left
      typename V::Vector values[4];
      load_four_values<V>(sources, tile.depth - 4, values);
      unrolled<4>([&](auto i) __attribute__((always_inline)) {
        if (tile.depth - 4 + i < value) return;
        add(values[i], weights);
        weights += tile.weight_step;
      });
      value = tile.depth;
    }
    for (; value < tile.depth; ++value, weights += tile.weight_step) {
      alignas(64) float one[V::lanes];
      for (int lane = 0; lane < V::lanes; ++lane) one[lane] = sources[lane][value];
      add(V::load(one), weights);
    }
  }
  unrolled<columns>([&](auto column) __attribute__((always_inline)) { V::store(memory[column], sums[column]); });
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int column = 0; column < columns; ++column) results[pixel][tile.column + column] = memory[column][pixel];
}

template <class V>
void narrow_tile(const PixelTile& tile) {
  for (int64_t first = 0; first < tile.pixels; first += V::lanes) {
    switch (tile.columns) {
      case 1: run_narrow_tile<V, 1>(tile, first); break;
      case 2: run_narrow_tile<V, 2>(tile, first); break;
      case 3: run_narrow_tile<V, 3>(tile, first); break;
      case 4: run_narrow_tile<V, 4>(tile, first); break;
      case 5: run_narrow_tile<V, 5>(tile, first); break;
      default: run_narrow_tile<V, 6>(tile, first); break;
    }
  }
}

}  // namespace anyshape::runtime
