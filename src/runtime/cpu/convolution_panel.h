// Weights and gradients copied into panels, rows of the columns that a tile handles at once, for the instruction set V.
#pragma once
#include <immintrin.h>

#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/unrolled.h"

namespace anyshape::runtime {

// to [8][width] = the transpose of 8 columns of 8 values each.
template <class V>
[[gnu::always_inline]] inline void transpose_8_by_8(const float* from, int64_t column_step, float* to, int64_t width) {
  __m256 a[8], b[8];
  unrolled<8>([&](auto i) __attribute__((always_inline)) { a[i] = _mm256_loadu_ps(from + i * column_step); });
  unrolled<4>([&](auto i) __attribute__((always_inline)) {
    b[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
  });
  unrolled<2>([&](auto half) __attribute__((always_inline)) {
    constexpr int i = 4 * half;
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  });
  unrolled<4>([&](auto i) __attribute__((always_inline)) {
    _mm256_storeu_ps(to + i * width, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * width, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
  });
}

template <class V>
void copy_panel_rows(const PanelCopy& copy) {
  const float* from = copy.from;
  float* to = copy.to;
  for (int64_t row = 0; row < copy.rows; ++row, from += copy.row_step, to += copy.width) {
    int64_t column = 0;
    for (; column + V::lanes <= copy.columns; column += V::lanes) V::store(to + column, V::load(from + column));
    if (column < copy.columns) V::store(to + column, V::load(from + column, V::first_lanes(copy.columns - column)));
  }
}

// Eight columns at a time: more of them drive each other out of the first cache where they are a multiple of 4 KiB apart.
template <class V>
void transpose_panel(const PanelCopy& copy) {
  for (int64_t column = 0; column < copy.width; column += 8) {
    const float* const from = copy.from + column * copy.column_step;
    int64_t row = 0;
    if (column + 8 <= copy.columns) {
      for (; row + 8 <= copy.rows; row += 8)
        transpose_8_by_8<V>(from + row, copy.column_step, copy.to + row * copy.width + column, copy.width);
    }
    for (; row < copy.rows; ++row) {
      float* const to = copy.to + row * copy.width + column;
      for (int64_t i = 0; i < 8; ++i) to[i] = column + i < copy.columns ? from[i * copy.column_step + row] : 0.0F;
    }
  }
}

template <class V>
void copy_panel(const PanelCopy& copy) {
  copy.column_step == 1 ? copy_panel_rows<V>(copy) : transpose_panel<V>(copy);
}

}  // namespace anyshape::runtime
