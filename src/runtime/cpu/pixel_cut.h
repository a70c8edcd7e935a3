// How a product of pixels with weights is cut: a function of sizes only.
#pragma once
#include <cstdint>

namespace anyshape::runtime {

// Of one group: pixels, columns, values behind a pointer, and how many of these.
struct PixelWork {
  int64_t pixels = 0, phases = 1;  // of all phases
  int64_t columns = 0, depth = 0, taps = 0;
  int64_t tile = 0;     // pixels
  bool copies = false;  // values may be copied first
};

struct PixelCut {
  int64_t pixels, columns;  // of a task; columns: whole strips
  int64_t taps, depth;      // of weights that are walked at once
};

PixelCut cut_pixels(const PixelWork& work);

}  // namespace anyshape::runtime
