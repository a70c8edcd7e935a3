// Tiles of convolutions in registers, for the instruction set V (vector_avx2.h, vector_avx512.h): tile_pixels rows of several vectors.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/unrolled.h"

namespace anyshape::runtime {

// Vectors of a row: as many as leave registers for a row of weights and a value of a source.
template <class V>
inline constexpr int tile_vectors = V::registers == 32 ? 4 : 2;

// The sums of `rows` x `vectors`; the last vector has `last` columns.
template <class V, int rows, int vectors>
class TileSums {
 public:
  [[gnu::always_inline]] explicit TileSums(int64_t columns) : last_(columns - (vectors - 1) * V::lanes) {}

  // `row_at(row)` is where the row stands in memory.
  template <class RowAt>
  [[gnu::always_inline]] void begin(bool adds, const RowAt& row_at) {
    if (!adds) {
      unrolled<rows>([&](auto row) __attribute__((always_inline)) {
        unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { sums_[row][vector] = V::zero(); });
      });
      return;
    }
    unrolled<rows>([&](auto row) __attribute__((always_inline)) {
      const float* const from = row_at(row);
      unrolled<vectors - 1>([&](auto vector) __attribute__((always_inline)) { sums_[row][vector] = V::load(from + vector * V::lanes); });
      sums_[row][vectors - 1] =
          last_ == V::lanes ? V::load(from + (vectors - 1) * V::lanes) : V::load(from + (vectors - 1) * V::lanes, V::first_lanes(last_));
    });
  }

  // Adds the products of one value per row with one row of weights.
  template <class ValueAt>
  [[gnu::always_inline]] void add(const float* weights, const ValueAt& value_at) {
    typename V::Vector w[vectors];
    unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { w[vector] = V::load(weights + vector * V::lanes); });
    unrolled<rows>([&](auto row) __attribute__((always_inline)) {
      const typename V::Vector value = V::in_all_lanes(value_at(row));
      unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { V::add_product(sums_[row][vector], value, w[vector]); });
    });
  }

  template <class RowAt>
  [[gnu::always_inline]] void end(const RowAt& row_at) {
    unrolled<rows>([&](auto row) __attribute__((always_inline)) {
      float* const to = row_at(row);
      unrolled<vectors - 1>([&](auto vector) __attribute__((always_inline)) { V::store(to + vector * V::lanes, sums_[row][vector]); });
      // A store of some lanes takes many times as long on processors without AVX-512.
      if (last_ == V::lanes)
        V::store(to + (vectors - 1) * V::lanes, sums_[row][vectors - 1]);
      else
        V::store(to + (vectors - 1) * V::lanes, sums_[row][vectors - 1], V::first_lanes(last_));
    });
  }

 private:
  typename V::Vector sums_[rows][vectors];
  int64_t last_;
};

template <class V, int pixels, int vectors>
void run_pixel_tile(const PixelTile& tile) {
  TileSums<V, pixels, vectors> sums(tile.columns);
  const auto row_at = [&](int row) __attribute__((always_inline)) { return tile.results[row] + tile.column; };
  unrolled<pixels>([&](auto row) __attribute__((always_inline)) {
    for (int column = 0; column < vectors * V::lanes; column += 16) __builtin_prefetch(row_at(row) + column, 1);
  });
  sums.begin(tile.adds, row_at);
  const int64_t depth = tile.depth, step = tile.weight_step;
  for (int64_t tap = 0; tap < tile.taps; ++tap) {
    const float* sources[pixels];
    unrolled<pixels>([&](auto row) __attribute__((always_inline)) { sources[row] = tile.sources[tap * tile_pixels + row]; });
    const float* weights = tile.weights + tile.tap_weights[tap];
    int64_t value = 0;
    for (; value + 4 <= depth; value += 4) {
      unrolled<4>([&](auto more) __attribute__((always_inline)) {
        sums.add(weights, [&](int row) __attribute__((always_inline)) { return sources[row] + value + more; });
        weights += step;
      });
    }
    for (; value < depth; ++value, weights += step)
      sums.add(weights, [&](int row) __attribute__((always_inline)) { return sources[row] + value; });
  }
  sums.end(row_at);
}

template <class V, int channels, int vectors>
void run_gradient_tile(const GradientTile& tile) {
  TileSums<V, channels, vectors> sums(tile.columns);
  const auto row_at = [&](int row) __attribute__((always_inline)) { return tile.result + row * tile.result_step; };
  sums.begin(tile.adds, row_at);
  const float* panel = tile.panel;
  for (int64_t pixel = 0; pixel < tile.pixels; ++pixel, panel += tile.panel_step) {
    const float* const source = tile.sources[pixel] + tile.channel;
    sums.add(panel, [&](int row) __attribute__((always_inline)) { return source + row; });
  }
  sums.end(row_at);
}

// A tile of any rows and columns: the function for it, from a table of all.
template <class V>
void pixel_tile(const PixelTile& tile) {
  constexpr int vectors = tile_vectors<V>;
  using Run = void (*)(const PixelTile&);
  static constexpr auto runs = []<int... index>(std::integer_sequence<int, index...>) {
    struct Table {
      Run run[sizeof...(index)];
    };
    return Table{{run_pixel_tile<V, index / vectors + 1, index % vectors + 1>...}};
  }(std::make_integer_sequence<int, static_cast<int>(tile_pixels) * vectors>{});
  runs.run[(tile.pixels - 1) * vectors + (tile.columns + V::lanes - 1) / V::lanes - 1](tile);
}

template <class V>
void gradient_tile(const GradientTile& tile) {
  constexpr int vectors = tile_vectors<V>;
  using Run = void (*)(const GradientTile&);
  static constexpr auto runs = []<int... index>(std::integer_sequence<int, index...>) {
    struct Table {
      Run run[sizeof...(index)];
    };
    return Table{{run_gradient_tile<V, index / vectors + 1, index % vectors + 1>...}};
  }(std::make_integer_sequence<int, static_cast<int>(tile_pixels) * vectors>{});
  runs.run[(tile.channels - 1) * vectors + (tile.columns + V::lanes - 1) / V::lanes - 1](tile);
}

}  // namespace anyshape::runtime
