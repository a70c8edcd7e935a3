// Where all taps of a pixel are inside, its pointers are one plus an offset per tap; elsewhere each is looked at. A run that stands in the source as
// it is needed is read there, and others are copied, with zeros for the padding.
#include "runtime/cpu/pixel_table.h"

#include <algorithm>

namespace anyshape::runtime {
namespace {

// The first position of the phase from `begin` on.
int64_t first_position(const AxisPhase& phase, int64_t begin) {
  const int64_t rest = (begin - phase.first) % phase.step;
  return begin + (rest == 0 ? 0 : rest < 0 ? -rest : phase.step - rest);
}

// The values of a run are neighbours.
bool runs_stand(const Phase& phase, const PixelSources& sources) { return phase[2].offset_step == 1 && sources.depth == sources.channels; }

bool is_inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

}  // namespace

void PixelTable::fill(const Images& images, const Phase& phase, int64_t first, int64_t end, std::span<const PixelTap> taps,
                      const PixelSources& sources) {
  const int64_t most_tiles = (end - first + tile_size_ - 1) / tile_size_;
  taps_ = static_cast<int64_t>(taps.size());
  pixels_ = 0;
  sources_ = scratch_.sources.at_least(most_tiles * std::max<int64_t>(taps_, 1) * tile_size_);
  results_ = scratch_.results.at_least(most_tiles * tile_size_);
  marks_ = scratch_.marks.at_least(most_tiles * (taps_ + 1));
  whole_ = marks_ + most_tiles * taps_;
  std::fill_n(marks_, most_tiles * taps_, uint8_t{0});
  std::fill_n(whole_, most_tiles, uint8_t{0});
  if (sources.in_runs) copies_ = scratch_.copies.at_least((end - first) * taps_ * sources.values(phase));
  int64_t image = -1;
  for (RowWalk walk(images, first, end); walk.has_row(); walk.next()) {
    const PixelRow& row = walk.row();
    if (!phase[0].has(row.place[0]) || !phase[1].has(row.place[1])) continue;
    if (walk.image() != image) set_distances(row.image.sources, taps, sources.channels);
    image = walk.image();
    fill_row(row, phase, taps, sources);
  }
  for (int64_t tile = 0; tile < tiles(); ++tile) {
    const uint8_t* const marks = marks_ + tile * taps_;
    if (whole_[tile] == 0) whole_[tile] = std::find(marks, marks + taps_, uint8_t{0}) == marks + taps_ ? 1 : 0;
  }
}

void PixelTable::set_distances(const SpatialSizes& sizes, std::span<const PixelTap> taps, int64_t channels) {
  for (size_t tap = 0; tap < taps.size(); ++tap) {
    const SpatialSizes& offset = taps[tap].offset;
    distances_[tap] = ((offset[0] * sizes[1] + offset[1]) * sizes[2] + offset[2]) * channels;
  }
}

void PixelTable::fill_row(const PixelRow& row, const Phase& phase, std::span<const PixelTap> taps, const PixelSources& sources) {
  const SpatialSizes& sizes = row.image.sources;
  const int64_t depth = phase[0].source_of(row.place[0]), height = phase[1].source_of(row.place[1]);
  const bool line_inside = phase[0].all_inside(depth, sizes[0]) && phase[1].all_inside(height, sizes[1]);
  const int64_t line = row.image.first_source + (depth * sizes[1] + height) * sizes[2];  // of pixels; may be outside, as a number
  const bool in_place = !sources.in_runs || runs_stand(phase, sources);
  const int64_t begin = first_position(phase[2], row.begin), source = phase[2].source_of(begin);
  const int64_t count = begin < row.end ? (row.end - begin + phase[2].step - 1) / phase[2].step : 0;
  const PixelRange interior = line_inside && in_place ? interior_of(phase[2], source, count, sizes[2]) : PixelRange{count, count};
  const int64_t first_result = row.first_pixel + begin - row.begin;
  for (int64_t i = 0; i < count; ++i) results_[pixels_ + i] = first_result + i * phase[2].step;
  const auto fill_edge = [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) fill_pixel(row, {depth, height, source + i * phase[2].source_step}, phase, taps, sources);
  };
  fill_edge(0, interior.begin);
  if (interior.begin < interior.end)
    fill_interior((line + source + interior.begin * phase[2].source_step) * sources.channels, phase[2].source_step * sources.channels,
                  interior.end - interior.begin, sources.first);
  fill_edge(std::max(interior.begin, interior.end), count);
}

// Neighbouring pixels of which all is inside: the first one's source is `at`, the next `step` further.
void PixelTable::fill_interior(int64_t at, int64_t step, int64_t count, const float* first) {
  int64_t tile = pixels_ / tile_size_, slot = pixels_ % tile_size_;
  pixels_ += count;
  for (; count > 0; ++tile, slot = 0) {
    const int64_t some = std::min(tile_size_ - slot, count);
    const float** to = sources_ + tile * taps_ * tile_size_ + slot;
    for (int64_t tap = 0; tap < taps_; ++tap, to += tile_size_) {
      const float* source = first + (at + distances_[tap]);
      for (int64_t i = 0; i < some; ++i, source += step) to[i] = source;
    }
    whole_[tile] = 1;
    at += some * step;
    count -= some;
  }
}

// A pixel whose sources are looked at one by one; `place` is that of the first tap's.
void PixelTable::fill_pixel(const PixelRow& row, const SpatialSizes& place, const Phase& phase, std::span<const PixelTap> taps,
                            const PixelSources& sources) {
  const SpatialSizes& sizes = row.image.sources;
  const int64_t at =
      (row.image.first_source + (place[0] * sizes[1] + place[1]) * sizes[2] + place[2]) * sources.channels;  // may be outside, as a number
  const int64_t tile = pixels_ / tile_size_;
  const float** to = sources_ + tile * taps_ * tile_size_ + pixels_ % tile_size_;
  const bool copies = sources.in_runs && !(runs_stand(phase, sources) && phase[2].all_inside(place[2], sizes[2]));
  bool all_used = true;
  for (int64_t tap = 0; tap < taps_; ++tap, to += tile_size_) {
    const SpatialSizes& offset = taps[static_cast<size_t>(tap)].offset;
    const bool inside = is_inside(place[0] + offset[0], sizes[0]) && is_inside(place[1] + offset[1], sizes[1]) &&
                        (sources.in_runs || is_inside(place[2] + offset[2], sizes[2]));
    all_used = all_used && inside;
    marks_[tile * taps_ + tap] |= inside ? 1 : 0;
    *to = !inside  ? zero_pixel
          : copies ? copied_run(at + distances_[tap], place[2], sizes[2], tap, phase[2], sources)
                   : sources.first + (at + distances_[tap]);
  }
  if (all_used) whole_[tile] = 1;
  ++pixels_;
}

// `at` is where the first tap meets its source, or would.
const float* PixelTable::copied_run(int64_t at, int64_t source, int64_t size, int64_t tap, const AxisPhase& phase,
                                    const PixelSources& sources) {
  float* const copy = copies_ + (pixels_ * taps_ + tap) * phase.taps * sources.depth;
  const TapRange inside = taps_inside(phase, source, size);
  std::fill_n(copy, inside.first * sources.depth, 0.0F);
  std::fill_n(copy + inside.end * sources.depth, (phase.taps - inside.end) * sources.depth, 0.0F);
  const int64_t step = phase.offset_step * sources.channels;
  const float* from = sources.first + (at + inside.first * step);
  for (float* to = copy + inside.first * sources.depth; to < copy + inside.end * sources.depth; to += sources.depth, from += step)
    for (int64_t value = 0; value < sources.depth; ++value) to[value] = from[value];
  return copy;
}

}  // namespace anyshape::runtime
