// Weights and gradients copied into panels, rows of the columns that a tile handles at once, for the instruction set V.
#pragma once
#include <immintrin.h>

#include "runtime/cpu/convolution_tile.h"

namespace anyshape::runtime {

// Four rows [4][width] of `V::lanes` columns: the transpose of four values of each column.
template <class V>
[[gnu::always_inline]] inline void transpose_four_rows(const float* from, int64_t column_step, float* to, int64_t width) {
  typename V::Vector a[4], b[4];
  unrolled<4>([&](auto i) __attribute__((always_inline)) { a[i] = V::load_quarters(from + i * column_step, 4 * column_step); });
  unrolled<2>([&](auto i) __attribute__((always_inline)) {
    b[2 * i] = V::low_pairs(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = V::high_pairs(a[2 * i], a[2 * i + 1]);
  });
  V::store(to, V::low_halves(b[0], b[2]));
  V::store(to + width, V::high_halves(b[0], b[2]));
  V::store(to + 2 * width, V::low_halves(b[1], b[3]));
  V::store(to + 3 * width, V::high_halves(b[1], b[3]));
}

template <class V>
void copy_panel_rows(const PanelCopy& copy) {
  constexpr int64_t panel_columns = int64_t{tile_vectors<V>} * V::lanes;
  const float* from = copy.from;
  for (int64_t row = 0; row < copy.rows; ++row, from += copy.row_step) {
    float* panel = copy.to;
    for (int64_t first = 0; first < copy.columns; first += panel_columns, panel += copy.panel_step) {
      const int64_t columns = copy.columns - first < panel_columns ? copy.columns - first : panel_columns;
      const int64_t width = (columns + V::lanes - 1) / V::lanes * V::lanes;
      float* const to = panel + row * width;
      int64_t column = 0;
      for (; column + V::lanes <= columns; column += V::lanes) V::store(to + column, V::load(from + first + column));
      if (column < columns) V::store(to + column, V::load(from + first + column, V::first_lanes(columns - column)));
    }
  }
}

template <class V>
void transpose_panel(const PanelCopy& copy, const float* columns_from, int64_t columns, float* panel) {
  const int64_t width = (columns + V::lanes - 1) / V::lanes * V::lanes;
  for (int64_t column = 0; column < width; column += V::lanes) {
    const float* const from = columns_from + column * copy.column_step;
    float* to = panel + column;
    int64_t row = 0;
    if (column + V::lanes <= columns) {
      for (; row + 4 <= copy.rows; row += 4, to += 4 * width) transpose_four_rows<V>(from + row, copy.column_step, to, width);
    }
    for (; row < copy.rows; ++row, to += width) {
      for (int64_t i = 0; i < V::lanes; ++i) to[i] = column + i < columns ? from[i * copy.column_step + row] : 0.0F;
    }
  }
}

template <class V>
void copy_panels(const PanelCopy& copy) {
  if (copy.column_step == 1) return copy_panel_rows<V>(copy);
  constexpr int64_t panel_columns = int64_t{tile_vectors<V>} * V::lanes;
  float* panel = copy.to;
  for (int64_t first = 0; first < copy.columns; first += panel_columns, panel += copy.panel_step)
    transpose_panel<V>(copy, copy.from + first * copy.column_step,
                       copy.columns - first < panel_columns ? copy.columns - first : panel_columns, panel);
}

}  // namespace anyshape::runtime
