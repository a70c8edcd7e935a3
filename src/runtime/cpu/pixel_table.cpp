// Where all taps of a pixel are inside, its pointers are one plus an offset per tap; elsewhere each is looked at. A run that stands in the source as it
// is needed is read there, and others are copied, with zeros for the padding.
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
  const int64_t most_tiles = (end - first + tile_pixels - 1) / tile_pixels;
  taps_ = static_cast<int64_t>(taps.size());
  pixels_ = 0;
  sources_ = scratch_.sources.at_least(most_tiles * std::max<int64_t>(taps_, 1) * tile_pixels);
  results_ = scratch_.results.at_least(most_tiles * tile_pixels);
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
  for (int64_t position = first_position(phase[2], row.begin); position < row.end; position += phase[2].step, ++pixels_) {
    const int64_t tile = pixels_ / tile_pixels, source = phase[2].source_of(position), at = (line + source) * sources.channels;
    const float** to = sources_ + tile * taps_ * tile_pixels + pixels_ % tile_pixels;
    results_[pixels_] = row.first_pixel + position - row.begin;
    const bool all_inside = phase[2].all_inside(source, sizes[2]),
               in_place = !sources.in_runs || (all_inside && runs_stand(phase, sources));
    if (line_inside && (all_inside || sources.in_runs)) whole_[tile] = 1;
    if (line_inside && all_inside && in_place) {
      for (int64_t tap = 0; tap < taps_; ++tap) to[tap * tile_pixels] = sources.first + (at + distances_[tap]);
      continue;
    }
    for (int64_t tap = 0; tap < taps_; ++tap, to += tile_pixels) {
      const SpatialSizes& offset = taps[static_cast<size_t>(tap)].offset;
      const bool inside = is_inside(depth + offset[0], sizes[0]) && is_inside(height + offset[1], sizes[1]) &&
                          (sources.in_runs || is_inside(source + offset[2], sizes[2]));
      marks_[tile * taps_ + tap] |= inside ? 1 : 0;
      if (!inside)
        *to = zero_pixel;
      else if (in_place)
        *to = sources.first + (at + distances_[tap]);
      else
        *to = copied_run(at + distances_[tap], source, sizes[2], tap, phase[2], sources);
    }
  }
}

// `at` is where the first tap meets its source, or would.
const float* PixelTable::copied_run(int64_t at, int64_t source, int64_t size, int64_t tap, const AxisPhase& phase,
                                    const PixelSources& sources) {
  float* const copy = copies_ + (pixels_ * taps_ + tap) * phase.taps * sources.depth;
  float* to = copy;
  for (int64_t j = 0; j < phase.taps; ++j, to += sources.depth) {
    const int64_t distance = j * phase.offset_step;
    if (is_inside(source + distance, size))
      std::copy_n(sources.first + (at + distance * sources.channels), sources.depth, to);
    else
      std::fill_n(to, sources.depth, 0.0F);
  }
  return copy;
}

}  // namespace anyshape::runtime
