// The images of a batch, and the rows of their pixels, counted flat over images and spatial axes.
#pragma once
#include "loop/library_work.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace anyshape::runtime {

using SpatialSizes = std::array<int64_t, 3>;

inline int64_t pixels_of(const SpatialSizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// Of a batch: `results` are the pixels that are walked, `sources` those that they meet.
struct Image {
  int64_t first_result = 0, first_source = 0;  // pixels of the images before it
  SpatialSizes results{}, sources{};
};

// Which image a pixel is of, and where an image stands: all have the same sizes. Nothing else counts on it.
class Images {
 public:
  Images(int64_t count, const SpatialSizes& results, const SpatialSizes& sources)
      : count_(count), sizes_{.results = results, .sources = sources}, results_(pixels_of(results)), sources_(pixels_of(sources)) {}

  int64_t results() const { return count_ * results_; }
  int64_t image_of(int64_t result) const { return result / results_; }
  Image at(int64_t image) const {
    Image found = sizes_;
    found.first_result = image * results_;
    found.first_source = image * sources_;
    return found;
  }

 private:
  int64_t count_;
  Image sizes_;
  int64_t results_, sources_;  // pixels of an image
};

// Of a convolution: its results and what they meet; of the gradient of its input the other way round.
inline Images images_of(const ConvolutionSizes<int64_t>& sizes, bool is_gradient) {
  const auto& axes = sizes.axes;
  const SpatialSizes inputs = {axes[0].input, axes[1].input, axes[2].input}, outputs = {axes[0].output, axes[1].output, axes[2].output};
  return is_gradient ? Images(sizes.images, inputs, outputs) : Images(sizes.images, outputs, inputs);
}

// Neighbouring pixels along the last axis: positions [begin, end) there, `place` along the other two.
struct PixelRow {
  Image image;
  std::array<int64_t, 2> place{};
  int64_t begin = 0, end = 0;
  int64_t first_pixel = 0;  // the one at `begin`, counted flat
};

// Walks over the rows of result pixels [first, end).
class RowWalk {
 public:
  RowWalk(const Images& images, int64_t first, int64_t end) : images_(images), end_(end) {
    if (first >= end) return;
    image_ = images.image_of(first);
    row_.image = images.at(image_);
    const SpatialSizes& sizes = row_.image.results;
    const int64_t within = first - row_.image.first_result;
    row_.place = {within / sizes[2] / sizes[1], within / sizes[2] % sizes[1]};
    row_.begin = within % sizes[2];
    row_.first_pixel = first;
    set_end();
  }

  bool has_row() const { return row_.begin < row_.end; }
  const PixelRow& row() const { return row_; }
  int64_t image() const { return image_; }

  void next() {
    row_.first_pixel += row_.end - row_.begin;
    row_.begin = 0;
    if (row_.first_pixel >= end_) {
      row_.end = 0;
      return;
    }
    if (++row_.place[1] == row_.image.results[1]) {
      row_.place[1] = 0;
      ++row_.place[0];
    }
    while (row_.place[0] >= row_.image.results[0] || pixels_of(row_.image.results) == 0) {
      row_.image = images_.at(++image_);
      row_.place = {0, 0};
    }
    set_end();
  }

 private:
  void set_end() { row_.end = std::min(row_.image.results[2], row_.begin + end_ - row_.first_pixel); }

  const Images& images_;
  int64_t end_, image_ = 0;
  PixelRow row_;
};

}  // namespace anyshape::runtime
