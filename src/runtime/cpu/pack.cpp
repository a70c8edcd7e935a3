// A matrix copied row by row, or transposed in strips of columns.
#include "runtime/cpu/pack.h"

#include <algorithm>

namespace anyshape::runtime {
namespace {

// Below that many elements a task costs more to hand over than it saves.
constexpr int64_t least_elements = int64_t{16} * 1024;

// Eight rows are read side by side: rows 4 KiB apart share the eight ways of one set of the first cache, and more of them drive each other out.
// Measured with 1024 x 256 floats: 0.20 ns for an element in strips of 8, 0.62 in strips of 16.
constexpr int64_t strip = 8;

void copy_rows(const Packing& p, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) std::copy_n(p.from + row * p.from_distance, p.columns, p.to + row * p.to_distance);
}

// Columns [first, first + strip) of the copy, which are rows of the original.
void turn_strip(const Packing& p, int64_t first) {
  const float* const from = p.from + first * p.from_distance;
  float* const to = p.to + first;
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t column = 0; column < strip; ++column) to[row * p.to_distance + column] = from[column * p.from_distance + row];
  }
}

void turn_columns(const Packing& p, int64_t begin, int64_t end) {
  for (; end - begin >= strip; begin += strip) turn_strip(p, begin);
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t column = begin; column < end; ++column) p.to[row * p.to_distance + column] = p.from[column * p.from_distance + row];
  }
}

}  // namespace

void pack(Pool& pool, const Packing& p) {
  if (p.rows <= 0 || p.columns <= 0) return;
  const int64_t count = p.transpose ? p.columns : p.rows, length = p.transpose ? p.rows : p.columns;
  const int64_t fitting = (least_elements + length - 1) / length, grain = (fitting + 15) / 16 * 16;  // parts begin where strips do
  pool.run(count, grain, [&](int64_t begin, int64_t end) { p.transpose ? turn_columns(p, begin, end) : copy_rows(p, begin, end); });
}

}  // namespace anyshape::runtime
