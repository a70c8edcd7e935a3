// The way from any view to row-major memory: axes that lie behind one another are merged first, so that most views end as a few long rows;
// a transposed pair of axes is copied in tiles, so that every cache line is fetched once.
#include "tensor/strided_copy.h"

#include "tensor/host_data.h"

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

struct Axis {
  int64_t size = 0;
  int64_t from = 0;  // stride in the source, in elements
  int64_t to = 0;    // and in the destination
};

struct Axes {
  std::array<Axis, max_rank> axis;
  int count = 0;
  Axis& last() { return axis[count - 1]; }
  Axis take(int index) {
    const Axis taken = axis[index];
    std::copy(axis.begin() + index + 1, axis.begin() + count, axis.begin() + index);
    --count;
    return taken;
  }
};

Axes merged_axes(const TensorImpl& source) {
  Axes axes;
  for (int i = 0; i < source.rank; ++i) {
    const int64_t size = source.sizes[i], stride = source.strides[i];
    if (size == 1) continue;
    if (axes.count > 0 && axes.last().from == stride * size) {
      axes.last() = {.size = axes.last().size * size, .from = stride};
    } else {
      axes.axis[axes.count++] = {.size = size, .from = stride};
    }
  }
  int64_t stride = 1;
  for (int i = axes.count - 1; i >= 0; --i) {
    axes.axis[i].to = stride;
    stride *= axes.axis[i].size;
  }
  return axes;
}

// Calls `visit(from, to)` with the offsets of every combination of indices.
template <class Visit>
void for_each_offset(const Axes& axes, Visit&& visit) {
  std::array<int64_t, max_rank> index{};
  int64_t from = 0, to = 0;
  while (true) {
    visit(from, to);
    int i = axes.count - 1;
    for (; i >= 0; --i) {
      const Axis& axis = axes.axis[i];
      from += axis.from;
      to += axis.to;
      if (++index[i] < axis.size) break;
      from -= axis.size * axis.from;
      to -= axis.size * axis.to;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

template <class Word>
void copy_row(const Word* from, Word* to, Axis row) {
  if (row.from == 1) {
    std::memcpy(to, from, static_cast<size_t>(row.size) * sizeof(Word));
  } else if (row.from == 0) {
    std::fill_n(to, row.size, *from);
  } else {
    for (int64_t i = 0; i < row.size; ++i) to[i] = from[i * row.from];
  }
}

// `row` is dense in the destination, `column` nearer together in the source.
template <class Word>
void copy_tiles(const Word* from, Word* to, Axis column, Axis row) {
  constexpr int64_t tile = 64 / sizeof(Word) < 16 ? 16 : 64 / sizeof(Word);
  for (int64_t i0 = 0; i0 < column.size; i0 += tile) {
    const int64_t i_end = std::min(i0 + tile, column.size);
    for (int64_t j0 = 0; j0 < row.size; j0 += tile) {
      const int64_t j_end = std::min(j0 + tile, row.size);
      for (int64_t i = i0; i < i_end; ++i) {
        for (int64_t j = j0; j < j_end; ++j) to[i * column.to + j] = from[i * column.from + j * row.from];
      }
    }
  }
}

// The outer axis whose elements are nearest together in the source, if nearer than the row's; else -1.
int nearest_axis(const Axes& outer, Axis row) {
  int nearest = -1;
  int64_t distance = std::abs(row.from);
  for (int i = 0; i < outer.count; ++i) {
    const int64_t stride = std::abs(outer.axis[i].from);
    if (stride == 0 || stride >= distance) continue;
    nearest = i;
    distance = stride;
  }
  return nearest;
}

template <class Word>
void copy_words(const TensorImpl& source, void* destination) {
  const auto* from = host_data<const Word>(source);
  auto* to = static_cast<Word*>(destination);
  Axes axes = merged_axes(source);
  if (axes.count == 0) {
    *to = *from;
    return;
  }
  const Axis row = axes.take(axes.count - 1);
  const int nearest = nearest_axis(axes, row);
  if (nearest < 0) {
    for_each_offset(axes, [&](int64_t a, int64_t b) { copy_row(from + a, to + b, row); });
  } else {
    const Axis column = axes.take(nearest);
    for_each_offset(axes, [&](int64_t a, int64_t b) { copy_tiles(from + a, to + b, column, row); });
  }
}

}  // namespace

void copy_row_major(const TensorImpl& source, void* destination) {
  if (source.count() == 0) return;
  switch (size_of(source.dtype)) {
    case 1: return copy_words<uint8_t>(source, destination);
    case 2: return copy_words<uint16_t>(source, destination);
    case 4: return copy_words<uint32_t>(source, destination);
    default: return copy_words<uint64_t>(source, destination);
  }
}

}  // namespace anyshape
